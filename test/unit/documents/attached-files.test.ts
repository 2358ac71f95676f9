import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { patchFile } from '../../../activities/documents/commands/patch-file.js';
import { checkStores } from '../../../activities/documents/clean-up/check-stores.js';
import { releaseWorkspaceFiles } from '../../../activities/documents/clean-up/release-workspace-files.js';
import { seededPresets } from '../../../activities/models/seeds/seeded-presets.js';
import type { ParserPool } from '../../../activities/documents/parsing/parser-pool.js';
import { AppError } from '../../../schemas/app-error.js';
import { parseConfig } from '../../../schemas/config/config.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import { createFakeWorkflows } from '../../api/support/fake-workflows.js';
import { activityBench, inActivity, refOf, scriptedParser } from '../../support/activity-bench.js';
import type { ActivityBench } from '../../support/activity-bench.js';
import { sampleReport } from '../../support/documents/sample-report.js';

const MAIL = { filename: 'mail.eml', original_filename: 'mail.eml', mimetype: 'message/rfc822' };
const NOTE = { name: 'note.txt', content: 'a note' };
const PRICES = { name: 'prices.csv', content: 'grain,price\nrye,7\n' };
const PROGRAM = { name: 'setup.exe', content: 'MZ' };
const FORWARDED = { name: 'forwarded.eml', content: 'Subject: forwarded\n\nsee below' };

type Attachment = typeof NOTE;

/** A bench whose preset has attachments become files; `attachments` is what the parser finds in a mail. */
async function openBench(attachments: Attachment[], options: { defaultFileQuota?: number } = {}) {
  const texts = scriptedParser(['what the mail says']);
  const found = { attachments };
  const asked: boolean[] = [];
  const parser: Pick<ParserPool, 'parseAndChunk'> = {
    async parseAndChunk(request) {
      const parsed = { ...(await texts.parseAndChunk(request)), report: sampleReport() };
      asked.push(request.attachments !== undefined);
      if (request.attachments === undefined || request.kind !== 'eml') return parsed;
      const { directory } = request.attachments;
      await mkdir(directory, { recursive: true });
      for (const [index, { content }] of found.attachments.entries())
        await writeFile(join(directory, String(index)), content);
      const taken = found.attachments.map(({ name, content }) => ({
        name,
        mimetype: '',
        size: content.length,
      }));
      return { ...parsed, attachments: taken };
    },
  };
  const bench = await activityBench(parser, options);
  for (const preset of seededPresets(parseConfig({}))) await bench.presets.seed(preset);
  const legal = await bench.presets.get('indexation', 'legal');
  await bench.presets.create({
    ...legal!,
    name: 'mails',
    config: { ...legal!.config, attachments_as_files: true },
  });
  await bench.partitions.update('library', { indexation_preset: 'mails' });
  return { ...bench, found, asked };
}

function read(bench: ActivityBench, task: TaskRecord) {
  return inActivity(() => bench.documents.parseDocument(refOf(task), { goOn: true })).result;
}

/** Reads what was admitted and waits, as the dispatcher has it done, until nothing waits. */
async function readAttachments(bench: ActivityBench): Promise<void> {
  for (;;) {
    const first = (await bench.tasks.list({ userId: null, states: ['QUEUED'], limit: 100 }))[0];
    if (first === undefined) return;
    const waiting = (await bench.tasks.get(first.task_id))!;
    await bench.blobs.assign(waiting.task_id, {
      fileKey: waiting.file_key,
      generation: waiting.generation,
    });
    if (waiting.kind === 'copy') {
      await copyOne(bench, waiting);
      await publish(bench, waiting);
    } else await read(bench, waiting);
  }
}

/** Moves a file as the gateway does. */
async function move(bench: ActivityBench, fileId: string, target: string): Promise<void> {
  const to =
    (await bench.partitions.get(target)) ??
    (await bench.partitions.create({ partition: target, embedder: 'builtin-hash', ownerId: 1 }));
  const deps = {
    ...bench,
    deduplicate: true,
    workflows: createFakeWorkflows().starter,
    log: { warn: () => undefined },
  };
  await patchFile(deps, { partition: 'library', fileId, metadata: {}, to });
}

function copyOne(bench: ActivityBench, task: TaskRecord) {
  return inActivity(() => bench.copying.copyVersion(refOf(task))).result;
}

function publish(bench: ActivityBench, task: TaskRecord) {
  return inActivity(() => bench.documents.publishDocument(refOf(task), 1)).result;
}

async function live(bench: ActivityBench, partition = 'library') {
  const files = await bench.files.listLive({ kind: 'all', userId: 1 }, partition);
  return files.map(({ live: version, ...file }) => ({ ...file, ...version! }));
}

function drifts(bench: ActivityBench, { deduplicate } = { deduplicate: true }) {
  return checkStores(bench, { deduplicate });
}

describe('attachments of a mail that become files', () => {
  it('are files beside it, with a task and a report each; what is not read is told', async () => {
    const bench = await openBench([NOTE, PRICES, PROGRAM]);
    const mail = await bench.admit('letter', 'mail', MAIL);
    expect(await read(bench, mail)).toMatchObject({ attached: true, published: { replaced: false } });
    await readAttachments(bench);
    const [letter, ...attached] = await live(bench);
    expect(letter).toMatchObject({ file_id: 'letter', relationship_id: 'letter', parent_id: null });
    expect(attached.map(({ filename }) => filename).sort()).toEqual(['note.txt', 'prices.csv']);
    for (const one of attached) {
      expect(one).toMatchObject({
        relationship_id: 'letter',
        parent_id: 'letter',
        metadata: mail.metadata,
        partition_key: letter!.partition_key,
        parse_report: { degraded: false },
      });
      expect(await bench.tasks.get(one.task_id)).toMatchObject({ state: 'COMPLETED', file_id: one.file_id });
    }
    const { attachments } = letter!.parse_report!;
    expect(attachments?.map(({ name }) => name)).toEqual(['note.txt', 'prices.csv', 'setup.exe']);
    expect(attachments?.[0]).toEqual({
      name: 'note.txt',
      file_id: attached.find(({ filename }) => filename === 'note.txt')?.file_id,
      reason: null,
    });
    expect(attachments?.[2]).toMatchObject({
      file_id: null,
      reason: expect.stringContaining("Unsupported file type (extension '.exe')"),
    });
    expect(letter!.degraded_stages).toEqual([]);
    expect(await drifts(bench)).toEqual([]);
  });

  it('stay when a workspace is deleted that their mail has left, and go with the mail', async () => {
    const bench = await openBench([NOTE]);
    const { admitFirst } = bench.files;
    bench.files.admitFirst = (input) => admitFirst({ ...input, workspaces: ['w'] });
    const mail = await bench.admit('letter', 'mail', MAIL);
    const another = await bench.admit('another', 'another mail', MAIL);
    await read(bench, mail);
    bench.found.attachments = [PRICES];
    await read(bench, another);
    await readAttachments(bench);
    expect((await live(bench)).map(({ workspaces }) => workspaces)).toEqual([['w'], ['w'], ['w'], ['w']]);
    await bench.files.detachWorkspace(mail.file_key, 'w');
    await releaseWorkspaceFiles(bench, { workspace_key: 'w', deleted: { at: new Date(), keepFiles: false } });
    await bench.documents.cleanFile(another.file_key);
    const left = await live(bench);
    expect(left.map(({ filename }) => filename).sort()).toEqual(['mail.eml', 'note.txt']);
    expect(left.map(({ workspaces }) => workspaces)).toEqual([[], []]);
    expect(await drifts(bench)).toEqual([]);
  });

  it('are neither asked for without the setting, nor of what is no mail', async () => {
    const bench = await openBench([NOTE]);
    await read(bench, await bench.admit('text', 'text'));
    await bench.partitions.update('library', { indexation_preset: 'legal' });
    await read(bench, await bench.admit('letter', 'mail', MAIL));
    expect(bench.asked).toEqual([false, false]);
  });

  it('are admitted once, though the mail is read again half way', async () => {
    const bench = await openBench([NOTE, PRICES]);
    const { admitFirst } = bench.files;
    let admissions = 0;
    bench.files.admitFirst = (input) => {
      if (input.attachedTo != null && ++admissions === 2) throw new AppError('STORAGE_ERROR');
      return admitFirst(input);
    };
    const mail = await bench.admit('letter', 'mail', MAIL);
    await expect(read(bench, mail)).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
    await read(bench, mail);
    await readAttachments(bench);
    expect(await live(bench)).toHaveLength(3);
    expect(await drifts(bench)).toEqual([]);
  });

  it('are kept by a new version that has them, and go with the last that does', async () => {
    const bench = await openBench([NOTE, PRICES]);
    await read(bench, await bench.admit('letter', 'mail', MAIL));
    await readAttachments(bench);
    const keys = async () =>
      new Map((await live(bench)).map(({ filename, file_key: fileKey }) => [filename, fileKey]));
    const before = await keys();
    bench.found.attachments = [PRICES, { ...NOTE, content: 'another note' }];
    const second = await bench.admit('letter', 'another mail', MAIL);
    expect(await read(bench, second)).toMatchObject({ published: { replaced: true } });
    await bench.documents.cleanFile(second.file_key);
    await readAttachments(bench);
    const after = await keys();
    expect(after.get('prices.csv')).toBe(before.get('prices.csv'));
    expect(after.get('note.txt')).not.toBe(before.get('note.txt'));
    expect(after.size).toBe(3);
    expect(await drifts(bench)).toEqual([]);
  });

  it('of a version that fails go, and those of the live one stay', async () => {
    const bench = await openBench([NOTE]);
    await read(bench, await bench.admit('letter', 'mail', MAIL));
    await readAttachments(bench);
    bench.found.attachments = [NOTE, PRICES];
    const second = await bench.admit('letter', 'another mail', MAIL);
    bench.chunks.put = () => Promise.reject(new AppError('VDB_CONNECTION_ERROR'));
    await read(bench, second);
    const failure = { code: 'UNEXPECTED_ERROR', message: 'away', traceback: [] };
    await inActivity(() => bench.documents.endTask(refOf(second), failure)).result;
    await bench.documents.cleanFile(second.file_key);
    expect((await live(bench)).map(({ filename }) => filename).sort()).toEqual(['mail.eml', 'note.txt']);
    expect(await drifts(bench)).toEqual([]);
  });

  it('go with the mail, those of attached mails too, whose own are sections', async () => {
    const bench = await openBench([NOTE, FORWARDED]);
    const mail = await bench.admit('letter', 'mail', MAIL);
    await read(bench, mail);
    await readAttachments(bench);
    // The mail, its two; the two of the forwarded one, of which the second asks for no more.
    expect(await live(bench)).toHaveLength(5);
    expect(bench.asked.filter(Boolean)).toHaveLength(2);
    await bench.files.markDeleted('library', 'letter');
    await bench.documents.cleanFile(mail.file_key);
    expect(await live(bench)).toEqual([]);
    expect(await drifts(bench)).toEqual([]);
  });

  it('count against the quota: what is beyond becomes no file, and the mail says so', async () => {
    const bench = await openBench([NOTE, PRICES], { defaultFileQuota: 1 });
    await read(bench, await bench.admit('letter', 'mail', MAIL));
    await readAttachments(bench);
    const [letter, ...attached] = await live(bench);
    expect(attached).toHaveLength(1);
    expect(letter).toMatchObject({
      degraded_stages: ['parse'],
      parse_report: {
        degraded: true,
        reasons: [expect.stringContaining('File quota exceeded')],
        attachments: [{ reason: null }, { file_id: null }],
      },
    });
    expect(await drifts(bench)).toEqual([]);
  });

  it('leave the file of a client alone that has their name', async () => {
    const bench = await openBench([NOTE]);
    await read(bench, await bench.admit('letter', 'mail', MAIL));
    const { file_id: name } = (await bench.tasks.list({ userId: null, states: ['QUEUED'], limit: 1 }))[0]!;
    const other = await openBench([NOTE]);
    await read(other, await other.admit(name, 'of the client'));
    const mail = await other.admit('letter', 'mail', MAIL);
    await read(other, mail);
    expect((await other.files.get('library', 'letter'))?.live?.parse_report).toMatchObject({
      attachments: [{ file_id: null, reason: expect.stringContaining('already exists') }],
    });
    await other.files.markDeleted('library', 'letter');
    await other.documents.cleanFile(mail.file_key);
    expect(await live(other)).toMatchObject([{ file_id: name }]);
    expect(await drifts(other)).toEqual([]);
  });

  it('are none of a mail that is deleted while they are admitted', async () => {
    const bench = await openBench([NOTE, PRICES]);
    const mail = await bench.admit('letter', 'mail', MAIL);
    const { admitFirst } = bench.files;
    bench.files.admitFirst = async (input) => {
      if (input.attachedTo != null && (await bench.files.get('library', 'letter')) !== null) {
        await bench.files.markDeleted('library', 'letter');
        await bench.documents.cleanFile(mail.file_key);
      }
      return admitFirst(input);
    };
    await expect(read(bench, mail)).rejects.toMatchObject({ code: 'TASK_CANCELLED' });
    expect(await live(bench)).toEqual([]);
    expect(await bench.tasks.list({ userId: null, states: ['QUEUED', 'SERIALIZING'], limit: 9 })).toEqual([]);
    expect(await drifts(bench)).toEqual([]);
  });

  it('move with the mail, those of attached mails too, and are deleted with it there', async () => {
    const bench = await openBench([NOTE, FORWARDED]);
    const mail = await bench.admit('letter', 'mail', MAIL);
    await read(bench, mail);
    await readAttachments(bench);
    await move(bench, 'letter', 'archive');
    expect(await live(bench)).toEqual([]);
    const moved = await live(bench, 'archive');
    expect(moved).toHaveLength(5);
    for (const { file_key: key, generation } of moved)
      expect(await bench.chunks.listByFile(key, generation)).toMatchObject([{ partition: 'archive' }]);
    expect(await drifts(bench)).toEqual([]);
    await bench.files.markDeleted('archive', 'letter');
    await bench.documents.cleanFile(mail.file_key);
    expect(await live(bench, 'archive')).toEqual([]);
    expect(await drifts(bench)).toEqual([]);
  });

  it('move with a mail that is being read: those admitted before and after', async () => {
    const bench = await openBench([NOTE, PRICES]);
    const mail = await bench.admit('letter', 'mail', MAIL);
    const { admitFirst } = bench.files;
    let admissions = 0;
    bench.files.admitFirst = async (input) => {
      if (input.attachedTo != null && ++admissions === 2) await move(bench, 'letter', 'archive');
      return admitFirst(input);
    };
    await read(bench, mail);
    await readAttachments(bench);
    expect(await live(bench)).toEqual([]);
    expect(await live(bench, 'archive')).toHaveLength(3);
    expect(await drifts(bench)).toEqual([]);
    // Read again where it is now, it has the files that it has.
    bench.files.admitFirst = admitFirst;
    await read(bench, await bench.admit('letter', 'mail, another time', MAIL, 'archive'));
    await readAttachments(bench);
    expect(await live(bench, 'archive')).toHaveLength(3);
  });

  it('follow a mail whose move a crash cut short', async () => {
    const bench = await openBench([NOTE]);
    const mail = await bench.admit('letter', 'mail', MAIL);
    await read(bench, mail);
    await readAttachments(bench);
    const { change, listAttached } = bench.files;
    bench.files.change = (input) => {
      bench.files.listAttached = () => Promise.reject(new AppError('STORAGE_ERROR'));
      return change(input);
    };
    await move(bench, 'letter', 'archive');
    Object.assign(bench.files, { change, listAttached });
    expect(await live(bench)).toHaveLength(1);
    expect(await bench.sweep.findDirtyFiles()).toEqual([mail.file_key]);
    await bench.documents.cleanFile(mail.file_key);
    expect(await live(bench, 'archive')).toHaveLength(2);
    expect(await drifts(bench)).toEqual([]);
  });

  it('keep a mail where it is, when a file of their name is where it shall go', async () => {
    const bench = await openBench([NOTE]);
    await read(bench, await bench.admit('letter', 'mail', MAIL));
    await readAttachments(bench);
    const { file_id: name } = (await live(bench)).find(({ filename }) => filename === 'note.txt')!;
    await bench.partitions.create({ partition: 'archive', embedder: 'builtin-hash', ownerId: 1 });
    await read(bench, await bench.admit(name, 'of the client', {}, 'archive'));
    await expect(move(bench, 'letter', 'archive')).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    expect(await live(bench)).toHaveLength(2);
    expect(await drifts(bench)).toEqual([]);
  });

  it('are files like any other once a client moves them away from their mail', async () => {
    const bench = await openBench([NOTE]);
    const mail = await bench.admit('letter', 'mail', MAIL);
    await read(bench, mail);
    await readAttachments(bench);
    const { file_id: name } = (await live(bench)).find(({ filename }) => filename === 'note.txt')!;
    await move(bench, name, 'archive');
    await bench.files.markDeleted('library', 'letter');
    await bench.documents.cleanFile(mail.file_key);
    expect(await live(bench, 'archive')).toMatchObject([{ file_id: name }]);
    expect(await drifts(bench)).toEqual([]);
  });

  it('are copied with the mail, read or not, and go with the copy alone', async () => {
    const bench = await openBench([NOTE, FORWARDED]);
    const mail = await bench.admit('letter', 'mail', MAIL);
    await read(bench, mail);
    const { task_id: forwarded } = (
      await bench.tasks.list({ userId: null, states: ['QUEUED'], limit: 9 })
    ).find(({ upload }) => upload.filename === FORWARDED.name)!;
    const waiting = (await bench.tasks.get(forwarded))!;
    await read(bench, waiting);
    // The note itself waits still, and so do the two of the forwarded mail.
    const copy = await bench.admitCopy('letter-2', mail);
    expect(await copyOne(bench, copy)).toEqual({ chunkCount: 1, attached: true });
    expect(await copyOne(bench, copy)).toEqual({ chunkCount: 1, attached: true });
    await publish(bench, copy);
    await readAttachments(bench);
    const all = await live(bench);
    expect(all).toHaveLength(10);
    const copied = all.filter(({ file_id: id }) => id.startsWith('letter-2.'));
    expect(copied.map(({ filename }) => filename).sort()).toEqual([
      'forwarded.eml',
      'forwarded.eml',
      'note.txt',
      'note.txt',
    ]);
    const theirs = copied.filter(({ attached }) => attached?.to === copy.file_key);
    expect(theirs).toHaveLength(2);
    for (const one of theirs)
      expect(one).toMatchObject({ parent_id: 'letter-2', relationship_id: 'letter-2' });
    const report = all.find(({ file_id: id }) => id === 'letter-2')!.parse_report!;
    expect(report.attachments?.map(({ file_id: id }) => id).sort()).toEqual(
      theirs.map(({ file_id: id }) => id).sort(),
    );
    expect(await drifts(bench, { deduplicate: false })).toEqual([]);
    await bench.files.markDeleted('library', 'letter-2');
    await bench.documents.cleanFile(copy.file_key);
    expect(await live(bench)).toHaveLength(5);
    expect(await drifts(bench, { deduplicate: false })).toEqual([]);
  });

  it('of which there is none to be copied are told', async () => {
    const bench = await openBench([NOTE, PRICES]);
    const mail = await bench.admit('letter', 'mail', MAIL);
    await read(bench, mail);
    await readAttachments(bench);
    const { file_id: name, file_key: key } = (await live(bench)).find(
      ({ filename }) => filename === 'note.txt',
    )!;
    await bench.files.markDeleted('library', name);
    await bench.documents.cleanFile(key);
    const copy = await bench.admitCopy('letter-2', mail);
    await copyOne(bench, copy);
    await publish(bench, copy);
    await readAttachments(bench);
    expect((await bench.files.get('library', 'letter-2'))?.live?.parse_report).toMatchObject({
      degraded: false,
      attachments: [
        { name: 'note.txt', file_id: null, reason: expect.stringContaining('no such file') },
        { name: 'prices.csv', file_id: expect.stringMatching(/^letter-2\./), reason: null },
      ],
    });
  });
});
