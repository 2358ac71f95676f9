import { toVersionEntries } from '../../activities/documents/metadata-entries.js';
import { entriesText } from './entries-text.js';
import { documentClient } from './document-client.js';
import type { RunningStack } from './running-stack.js';
import { remainingDrift } from './remaining-drift.js';
import { wholeChunks } from './whole-chunks.js';

/** What a seed makes of the next number: small, known, and the same everywhere (Mulberry32, T. Ettinger). */
function randomFrom(seed: number) {
  let state = seed >>> 0;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const KINDS = ['POST', 'POST', 'PUT', 'PUT', 'PATCH', 'PATCH', 'DELETE', 'CANCEL'] as const;
/** What each kind may answer, whatever else is going on. */
const ANSWERS: Record<(typeof KINDS)[number], readonly number[]> = {
  POST: [201, 409],
  PUT: [202, 404],
  PATCH: [200, 404],
  DELETE: [204, 404],
  CANCEL: [200, 409],
};

interface Operation {
  kind: (typeof KINDS)[number];
  fileId: string;
  number: number;
}

function textOf({ number }: Operation): string {
  return `Operation ${number} wrote this. It is text number ${number}.`;
}

/**
 * Operations of every kind at once on a few files of one partition. Whatever order they took, the end must be that of
 * some order one after the other, which for each file means:
 * - its words and its text are of one upload that was admitted, and so is every word of a PATCH that was answered 200;
 * - it is there only if an upload of it was admitted, and gone only if something removed or stopped it;
 * - a POST is admitted where nothing is: at most once more often than the file was removed or stopped, and every
 *   other operation that found the file, and each DELETE anew, has a POST that put it there;
 * - a task that reads COMPLETED is the live version's, or was replaced, or its file was deleted.
 * @returns what no order explains
 */
export async function runMixedCampaign(
  stack: RunningStack,
  options: { seed: number; operations: number; files: number },
): Promise<string[]> {
  const random = randomFrom(options.seed);
  const partition = `mixed-${options.seed}`;
  const client = documentClient(stack);
  const faults: string[] = [];
  const urls = new Map<string, string[]>();
  const done: (Operation & { status: number; url?: string })[] = [];
  await stack.request(`/partition/${partition}`, { method: 'POST' });

  const perform = async (operation: Operation): Promise<void> => {
    const { kind, fileId, number } = operation;
    const path = `/indexer/partition/${partition}/file/${fileId}`;
    let response: Response;
    if (kind === 'POST' || kind === 'PUT') {
      const metadata = { upload: number };
      response = await client.send(kind, partition, fileId, textOf(operation), `${fileId}.txt`, metadata);
    } else if (kind === 'PATCH') {
      const body = new FormData();
      body.set('metadata', JSON.stringify({ [`patch${number}`]: number }));
      response = await stack.request(path, { method: 'PATCH', body });
    } else if (kind === 'DELETE') response = await stack.request(path, { method: 'DELETE' });
    else {
      const url = urls.get(fileId)?.at(-1);
      if (url === undefined) return;
      response = await stack.request(url, { method: 'DELETE' });
    }
    const text = await response.text();
    const { status } = response;
    if (!ANSWERS[kind].includes(status)) faults.push(`${kind} ${fileId} answered ${status} ${text}`);
    const url = status === 201 || status === 202 ? (JSON.parse(text) as { task_status_url: string }) : null;
    if (url !== null) urls.set(fileId, [...(urls.get(fileId) ?? []), url.task_status_url]);
    done.push({ ...operation, status, ...(url === null ? {} : { url: url.task_status_url }) });
  };

  const operations = Array.from({ length: options.operations }, (_, number): Operation => {
    const kind = KINDS[random(KINDS.length)]!;
    return { kind, fileId: `file-${random(options.files)}`, number };
  });
  await Promise.all(operations.map(perform));
  const ended = new Map<string, string>();
  for (const url of [...urls.values()].flat()) ended.set(url, (await client.ended(url)).task_state);
  for (const drift of await remainingDrift(stack))
    faults.push(`${drift.kind} ${drift.subject}: ${drift.detail}`);

  for (let index = 0; index < options.files; index += 1) {
    const fileId = `file-${index}`;
    const own = done.filter((operation) => operation.fileId === fileId);
    const file = await stack.adapters.files.get(partition, fileId);
    const live = file?.live ?? null;
    const uploads = own.filter(({ url }) => url !== undefined);
    const times = (of: Operation['kind'], status: number): number =>
      own.filter((operation) => operation.kind === of && operation.status === status).length;
    const [created, deleted, stopped] = [times('POST', 201), times('DELETE', 204), times('CANCEL', 200)];
    if (created > 1 + deleted + stopped)
      faults.push(`${fileId} was created ${created} times, and removed ${deleted}, stopped ${stopped} times`);
    if (deleted > created) faults.push(`${fileId} was deleted ${deleted} times and created ${created} times`);
    if (created === 0 && times('PUT', 202) + times('PATCH', 200) > 0)
      faults.push(`${fileId} was changed and never there`);
    for (const { url } of uploads) if (ended.get(url!) === 'FAILED') faults.push(`${fileId}: ${url} FAILED`);
    if (live === null) {
      const removed = own.some(({ kind, status }) => kind === 'DELETE' && status === 204);
      const completed = uploads.filter(({ url }) => ended.get(url!) === 'COMPLETED');
      if (completed.length > 0 && !removed)
        faults.push(`${fileId} was indexed, is gone, and nobody deleted it`);
      continue;
    }
    const { upload, ...words } = live.metadata;
    const author = uploads.find(({ number }) => number === upload);
    if (author === undefined) {
      faults.push(`${fileId} is of upload ${String(upload)}, which was never admitted`);
      continue;
    }
    if (ended.get(author.url!) !== 'COMPLETED')
      faults.push(`${fileId} is of a task that is ${ended.get(author.url!)}`);
    const chunks = await wholeChunks(stack.adapters.chunks, file!.file_key, live.generation);
    if (chunks.map(({ text }) => text).join('') !== textOf(author))
      faults.push(`${fileId} has the words of upload ${String(upload)} and another text`);
    const patched = new Set(
      own.filter(({ kind, status }) => kind === 'PATCH' && status === 200).map(({ number }) => number),
    );
    for (const [key, value] of Object.entries(words))
      if (key !== `patch${String(value)}` || !patched.has(Number(value)))
        faults.push(`${fileId} has ${key}, which nobody gave it`);
    const entries = entriesText(toVersionEntries(live));
    for (const { metadata } of chunks)
      if (entriesText(metadata) !== entries)
        faults.push(`${fileId}: its chunks say ${entriesText(metadata)} and its record ${entries}`);
  }
  return faults;
}
