import type { PdfEntries } from './pdf-dictionary.js';

interface Rows {
  predictor: number;
  /** Bytes of a row, and of what a byte is predicted by in it. */
  length: number;
  step: number;
}

/** What tells how a stream was packed. */
function parametersOf(dictionary: PdfEntries): string {
  return dictionary.get('DecodeParms') ?? '';
}

/** Whether bytes say how they differ from others; also where that stands elsewhere or cannot be told. */
export function isPredicted(dictionary: PdfEntries): boolean {
  return /\/Predictor(?!\s{1,9}1(?!\d))|\dR|\sR/.test(parametersOf(dictionary));
}

/** With the defaults of ISO 32000-1, table 8; null where the numbers cannot be told. */
function rowsOf(dictionary: PdfEntries): Rows | null {
  const given = parametersOf(dictionary);
  if (given.split('<<').length !== 2) return null;
  const predictor = Number(/\/Predictor\s{1,9}(\d{1,3})/.exec(given)?.[1] ?? 0);
  const colors = Number(/\/Colors\s{1,9}(\d{1,3})/.exec(given)?.[1] ?? 1);
  const depth = Number(/\/BitsPerComponent\s{1,9}(\d{1,3})/.exec(given)?.[1] ?? 8);
  const columns = Number(/\/Columns\s{1,9}(\d{1,6})/.exec(given)?.[1] ?? 1);
  const bits = colors * depth;
  const length = Math.ceil((bits * columns) / 8);
  return predictor < 2 || length < 1 ? null : { predictor, length, step: Math.max(1, bits >> 3) };
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [byLeft, byUp, byCorner] = [left, up, corner].map((value) => Math.abs(guess - value));
  if (byLeft! <= byUp! && byLeft! <= byCorner!) return left;
  return byUp! <= byCorner! ? up : corner;
}

/** By the number in front of a row (PNG, 9.2); what is added to each byte. */
const PNG: Readonly<Record<number, (left: number, up: number, corner: number) => number>> = {
  1: (left) => left,
  2: (_left, up) => up,
  3: (left, up) => (left + up) >> 1,
  4: paeth,
};

/** What the first bytes of unpacked ones stand for, as in pictures and tables of objects; null: it cannot be told. */
export function unpredicted(dictionary: PdfEntries, bytes: Buffer): Buffer | null {
  const rows = rowsOf(dictionary);
  if (rows === null) return null;
  const { predictor, length, step } = rows;
  const tag = predictor >= 10 ? 1 : 0;
  const count = Math.ceil(bytes.length / (length + tag));
  const out = Buffer.alloc(count * length);
  for (let row = 0; row < count; row++) {
    const from = row * (length + tag);
    const add = tag === 0 ? PNG[1] : PNG[bytes[from]!];
    for (let i = 0; i < length && from + tag + i < bytes.length; i++) {
      const at = row * length + i;
      const left = i < step ? 0 : out[at - step]!;
      const up = row === 0 ? 0 : out[at - length]!;
      const corner = row === 0 || i < step ? 0 : out[at - length - step]!;
      out[at] = bytes[from + tag + i]! + (add?.(left, up, corner) ?? 0);
    }
  }
  return out.subarray(0, Math.max(0, bytes.length - count * tag));
}
