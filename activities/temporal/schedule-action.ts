import { ValueError, defaultPayloadConverter } from '@temporalio/common';
import type { LoadedDataConverter, Payload, PayloadCodec } from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  decodeUserMetadata,
  encodeToPayloads,
  encodeUserMetadata,
} from '@temporalio/common/lib/internal-non-workflow/codec-helpers.js';

type UserMetadata = NonNullable<Awaited<ReturnType<typeof encodeUserMetadata>>>;

/**
 * Of what a schedule starts, the part that goes through the codec: it is as secret as a workflow's own arguments. Tamis
 * sets neither a memo nor details.
 */
interface StoredAction {
  input?: { payloads?: Payload[] | null } | null;
  userMetadata?: UserMetadata | null;
}

interface ActionValues {
  args: unknown[];
  staticSummary: string | undefined;
}

/** As this process writes it: plain, or with its present key. */
export async function encodeAction(
  converter: LoadedDataConverter,
  { args, staticSummary }: ActionValues,
): Promise<{ input: { payloads: Payload[] }; userMetadata: UserMetadata | null }> {
  return {
    input: { payloads: (await encodeToPayloads(converter, ...args)) ?? [] },
    userMetadata: (await encodeUserMetadata(converter, staticSummary, undefined)) ?? null,
  };
}

/** Null: no key that is here opens it. */
export async function decodeAction(
  converter: LoadedDataConverter,
  stored: StoredAction | null | undefined,
): Promise<ActionValues | null> {
  try {
    const { staticSummary } = await decodeUserMetadata(converter, stored?.userMetadata);
    return { args: await decodeArrayFromPayloads(converter, stored?.input?.payloads ?? []), staticSummary };
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    return null;
  }
}

/** Reads null in place of what no key opens, so that the rest can still be shown. */
export function forgiving(converter: LoadedDataConverter): LoadedDataConverter {
  return { ...converter, payloadCodecs: converter.payloadCodecs.map(forgivingCodec) };
}

function forgivingCodec(codec: PayloadCodec): PayloadCodec {
  const decodeOne = async (payload: Payload): Promise<Payload> => {
    try {
      return (await codec.decode([payload]))[0] ?? payload;
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      return defaultPayloadConverter.toPayload(null);
    }
  };
  return {
    encode: (payloads) => codec.encode(payloads),
    decode: (payloads) => Promise.all(payloads.map(decodeOne)),
  };
}

/** Whether both are written in the same way: plain, or with the same key. */
export function areAlikeWritten(one: StoredAction | null | undefined, other: StoredAction): boolean {
  return formOf(one) === formOf(other);
}

function formOf(stored: StoredAction | null | undefined): string {
  const text = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString();
  const payloads = [...(stored?.input?.payloads ?? []), stored?.userMetadata?.summary ?? {}];
  return JSON.stringify(
    payloads.map(({ metadata }) =>
      Object.entries(metadata ?? {})
        .map(([name, value]) => [name, text(value)])
        .sort(),
    ),
  );
}
