import type { LoadedDataConverter, Payload } from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  decodeUserMetadata,
  encodeToPayloads,
  encodeUserMetadata,
} from '@temporalio/common/lib/internal-non-workflow/codec-helpers.js';

type UserMetadata = NonNullable<Awaited<ReturnType<typeof encodeUserMetadata>>>;

/** Of what a schedule starts, the part that goes through the codec: it is as secret as a workflow's own arguments. */
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

/** Null: it was encrypted with a key that is not here any more. */
export async function decodeAction(
  converter: LoadedDataConverter,
  stored: StoredAction | null | undefined,
): Promise<ActionValues | null> {
  try {
    const { staticSummary } = await decodeUserMetadata(converter, stored?.userMetadata);
    return { args: await decodeArrayFromPayloads(converter, stored?.input?.payloads ?? []), staticSummary };
  } catch {
    return null;
  }
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
