import { toVersionEntries } from '../../activities/documents/metadata-entries.js';
import { entriesText } from './entries-text.js';
import type { FileRecord } from '../../schemas/documents/documents.js';
import type { TaskRecord } from '../../schemas/documents/tasks.js';
import type { Moment } from './kill-tools.js';
import { DOC, persistentClient } from './persistent-client.js';
import type { RunningStack } from './running-stack.js';
import { until } from './until.js';
import { wholeChunks } from './whole-chunks.js';

/** A change of what is there. `id` names its partition, which no other scene uses. */
export interface Scene {
  name: string;
  prepare(id: string): Promise<void>;
  act(id: string): Promise<void>;
  /** Where a kill may fall. */
  moments: ((id: string) => Moment)[];
  check(id: string): Promise<string[]>;
}

const SMALL = 12;
const BIG = 1_500;
/** More chunks than the gateway lets follow a PATCH by itself. */
const LARGE = 8_000;
const SEED = 1;
const OTHER_SEED = 2;
/** A client that repeats a request whose answer was lost finds the work done. */
const DONE = { patch: [200], move: [200, 404], remove: [204, 404], cancel: [200, 409], copy: [201, 409] };

/** Every scene, those first of which one moment each is met in `npm test`. */
export function scenesOf(stack: RunningStack): { main: Scene[]; more: Scene[] } {
  const { files, chunks, tasks, partitions } = stack.adapters;
  const { call, upload, status, state, taskOf, ended, embedding, found } = persistentClient(stack);
  const path = (id: string) => `/indexer/partition/${id}/file/${DOC}`;
  const to = (id: string) => `${id}-to`;
  const open = (id: string) => call('POST', `/partition/${id}`, [201, 409]);
  const urls = new Map<string, string>();

  const indexed = async (id: string, paragraphs: number): Promise<void> => {
    const now = await ended(await upload('POST', id, SEED, paragraphs));
    if (now !== 'COMPLETED') throw new Error(`${id} could not be prepared: ${now}`);
  };
  const records = async (id: string): Promise<FileRecord[]> => {
    const found: FileRecord[] = [];
    for await (const file of files.scan()) if (file.partition === id) found.push(file);
    return found;
  };
  const task = (id: string): Promise<TaskRecord | null> => taskOf(urls.get(id) ?? '');
  const textsOf = async (file: FileRecord): Promise<string[]> =>
    (await chunks.listByFile(file.file_key, file.live!.generation)).map(({ text }) => text);

  /** The file is live there with the words and the text, and a search says so. */
  const holds = async (id: string, words: object, paragraphs: number): Promise<string[]> => {
    const file = await files.get(id, DOC);
    if (file?.live == null) return [`${id} is not live`];
    const faults: string[] = [];
    if (JSON.stringify(file.live.metadata) !== JSON.stringify(words))
      faults.push(`${id} has the words ${JSON.stringify(file.live.metadata)}`);
    const stored = await wholeChunks(chunks, file.file_key, file.live.generation);
    const entries = entriesText(toVersionEntries(file.live));
    for (const { metadata, partition, position } of stored) {
      const own = entriesText(metadata);
      if (own !== entries || partition !== id)
        faults.push(`${id}: chunk ${position} says ${partition} ${own} and not ${entries}`);
    }
    if (stored.length !== file.live.chunk_count) faults.push(`${id} lacks chunks`);
    const last = `Document ${SEED}, paragraph ${paragraphs - 1}:`;
    if (stored.at(-1)?.text.includes(last) !== true) faults.push(`${id} does not end as its text does`);
    const seen = (await found(id, SEED)).join(' and ');
    if (seen !== String(SEED)) faults.push(`a search in ${id} found '${seen}'`);
    return faults;
  };
  /** Nothing of the file is left, and its id and its bytes are free. */
  const isGone = async (id: string): Promise<string[]> => {
    const faults: string[] = [];
    if ((await status(`/partition/${id}/file/${DOC}`)) !== 404) faults.push(`${id} still has its file`);
    if ((await found(id, SEED)).length > 0) faults.push(`a search in ${id} finds the deleted file`);
    const again = await ended(await upload('POST', id, SEED, SMALL));
    return again === 'COMPLETED' ? faults : [...faults, `${id} cannot be uploaded again: ${again}`];
  };

  const words =
    (process: Moment['process']) =>
    (id: string): Moment => ({
      process,
      name: `${process}: the words of ${id} are on their way to its chunks`,
      reached: async () =>
        (await records(id)).concat(await records(to(id))).some((file) => file.chunk_updates.length > 0),
    });
  const cancelled =
    (process: Moment['process']) =>
    (id: string): Moment => ({
      process,
      name: `${process}: ${id} is cancelled and not cleaned up`,
      reached: async () => {
        const found = await task(id);
        return found?.state === 'CANCELLED' && found.cleaned_at === null;
      },
    });
  const buried =
    (process: Moment['process']) =>
    (id: string): Moment => ({
      process,
      name: `${process}: the file of ${id} is deleted and not cleaned up`,
      reached: async () => (await records(id)).some((file) => file.deleted_at !== null),
    });

  const main: Scene[] = [
    {
      name: 'patch',
      prepare: (id) => indexed(id, SMALL),
      act: (id) => call('PATCH', path(id), DONE.patch, { metadata: '{"rev":1}' }),
      moments: [words('gateway')],
      check: (id) => holds(id, { of: SEED, rev: 1 }, SMALL),
    },
    {
      name: 'copy',
      async prepare(id) {
        await indexed(id, BIG);
        await open(to(id));
      },
      async act(id) {
        const fields = { source_partition: id, source_file_id: DOC };
        await call('POST', `${path(to(id))}/copy`, DONE.copy, fields);
        await until('the copy is live', async () => (await files.get(to(id), DOC))?.live != null, {
          withinMs: 120_000,
          everyMs: 50,
        });
      },
      moments: (['worker', 'gateway'] as const).map((process) => (id) => ({
        process,
        name: `${process}: ${id} is being copied`,
        reached: async () => {
          for await (const { kind, partition, stage, finished_at } of tasks.scan())
            if (kind === 'copy' && partition === to(id) && stage === 'store' && finished_at === null)
              return true;
          return false;
        },
      })),
      async check(id) {
        const faults = await holds(to(id), { of: SEED }, BIG);
        const [source, copy] = await Promise.all([files.get(id, DOC), files.get(to(id), DOC)]);
        if (source?.live == null || copy?.live == null) return [...faults, `${id} or its copy is gone`];
        const same = JSON.stringify(await textsOf(source)) === JSON.stringify(await textsOf(copy));
        return same ? faults : [...faults, `the copy of ${id} has another text`];
      },
    },
    {
      name: 'delete-file',
      prepare: (id) => indexed(id, BIG),
      act: (id) => call('DELETE', path(id), DONE.remove),
      moments: [buried('worker'), buried('gateway')],
      check: isGone,
    },
    {
      name: 'delete-partition',
      prepare: (id) => indexed(id, BIG),
      async act(id) {
        urls.set(id, await upload('PUT', id, OTHER_SEED, BIG));
        await embedding(urls.get(id)!);
        await call('DELETE', `/partition/${id}`, DONE.remove);
      },
      moments: (['worker', 'gateway'] as const).map((process) => (id) => ({
        process,
        name: `${process}: ${id} is deleted and not cleaned up`,
        reached: async () => (await partitions.get(id)) === null && (await records(id)).length > 0,
      })),
      async check(id) {
        const faults: string[] = [];
        const ending = await ended(urls.get(id)!);
        if (ending === 'FAILED') faults.push(`the task of ${id} failed`);
        if ((await status(`/partition/${id}`)) !== 404) faults.push(`${id} is still there`);
        await open(id);
        return [...faults, ...(await isGone(id))];
      },
    },
    {
      name: 'cancel',
      prepare: async () => undefined,
      async act(id) {
        urls.set(id, await upload('POST', id, SEED, BIG));
        await embedding(urls.get(id)!);
        await call('DELETE', urls.get(id)!, DONE.cancel);
        const now = await state(urls.get(id)!);
        if (now !== 'CANCELLED' && now !== 'COMPLETED') throw new Error(`${id} reads ${now} once cancelled`);
      },
      moments: [cancelled('worker'), cancelled('gateway')],
      async check(id) {
        if ((await ended(urls.get(id)!)) === 'CANCELLED') return isGone(id);
        return holds(id, { of: SEED }, BIG);
      },
    },
  ];
  const more: Scene[] = [
    {
      name: 'patch-large',
      prepare: (id) => indexed(id, LARGE),
      act: (id) => call('PATCH', path(id), DONE.patch, { metadata: '{"rev":1}' }),
      moments: [words('worker')],
      check: async (id) => {
        await until('its chunks have followed', async () =>
          (await records(id)).every(({ chunk_updates }) => chunk_updates.length === 0),
        );
        return holds(id, { of: SEED, rev: 1 }, LARGE);
      },
    },
    {
      name: 'move',
      async prepare(id) {
        await indexed(id, SMALL);
        await open(to(id));
      },
      act: (id) => call('PATCH', path(id), DONE.move, { metadata: JSON.stringify({ partition: to(id) }) }),
      moments: [words('gateway')],
      async check(id) {
        const left = (await files.get(id, DOC)) === null ? [] : [`${id} is still in its old partition`];
        return [...left, ...(await holds(to(id), { of: SEED }, SMALL)), ...(await isGone(id))];
      },
    },
    {
      name: 'cancel-replacement',
      prepare: (id) => indexed(id, SMALL),
      async act(id) {
        urls.set(id, await upload('PUT', id, OTHER_SEED, BIG));
        await embedding(urls.get(id)!);
        await call('DELETE', urls.get(id)!, DONE.cancel);
      },
      moments: [cancelled('worker'), cancelled('gateway')],
      async check(id) {
        if ((await ended(urls.get(id)!)) === 'CANCELLED') return holds(id, { of: SEED }, SMALL);
        return [];
      },
    },
  ];
  return { main, more };
}
