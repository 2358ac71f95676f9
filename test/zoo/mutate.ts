/** What a mutation did, for the message of a failure. */
export interface Mutation {
  how: 'flip' | 'cut' | 'swap' | 'graft' | 'repeat' | 'zero';
  bytes: Buffer;
}

const KINDS: readonly Mutation['how'][] = ['flip', 'cut', 'swap', 'graft', 'repeat', 'zero'];
/** A part that is moved, copied or blanked is at most so long. */
const MAX_PART = 4096;

/**
 * Damages a file as transfers, disks and attackers do: flipped bits, a lost end or beginning, parts in each other's
 * place, a part of another file, a part many times, a part of zeros. The same numbers give the same bytes.
 * @param random numbers in [0, 1)
 */
export function mutate(original: Buffer, other: Buffer, random: () => number): Mutation {
  const bytes = Buffer.from(original);
  const below = (limit: number): number => Math.floor(random() * limit);
  const how = KINDS[below(KINDS.length)]!;
  const part = (of: Buffer): { start: number; end: number } => {
    const start = below(of.length);
    return { start, end: Math.min(of.length, start + 1 + below(MAX_PART)) };
  };
  const { start, end } = part(bytes);
  switch (how) {
    case 'flip':
      for (let times = 1 + below(16); times > 0 && bytes.length > 0; times--)
        bytes[below(bytes.length)]! ^= 1 << below(8);
      return { how, bytes };
    case 'cut':
      return { how, bytes: random() < 0.8 ? bytes.subarray(0, start) : bytes.subarray(start) };
    case 'swap': {
      const at = below(bytes.length);
      const moved = bytes.subarray(start, end);
      const rest = Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
      return { how, bytes: Buffer.concat([rest.subarray(0, at), moved, rest.subarray(at)]) };
    }
    case 'graft': {
      const from = part(other);
      other.copy(bytes, start, from.start, from.end);
      return { how, bytes };
    }
    case 'repeat': {
      const copies = Array.from({ length: 1 + below(64) }, () => bytes.subarray(start, end));
      return { how, bytes: Buffer.concat([bytes.subarray(0, end), ...copies, bytes.subarray(end)]) };
    }
    case 'zero':
      return { how, bytes: bytes.fill(0, start, end) };
  }
}
