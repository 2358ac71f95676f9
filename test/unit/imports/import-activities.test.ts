import { afterEach, describe, expect, it } from '@jest/globals';
import { AppError } from '../../../schemas/app-error.js';
import type { ImportPosition } from '../../../activities/imports/import-slice.js';
import type { SourceAnswer } from '../../support/import-bench.js';
import { importBench } from '../../support/import-bench.js';
import type { ImportBench } from '../../support/import-bench.js';

let bench: ImportBench;
afterEach(() => bench.close());

describe('a slice whose time is over with the lists of the source', () => {
  it('takes a file all the same, so that each gets further', async () => {
    bench = await importBench(['a', 'b', 'c'], { sliceMs: 0 });
    const first = await bench.slice(null).result;
    expect(first).toMatchObject({ phase: 'files', done: 0, total: 3 });
    const second = await bench.slice(first).result;
    expect(second).toMatchObject({ phase: 'files', after: 'a', done: 1 });
    const third = await bench.slice(second).result;
    expect(third).toMatchObject({ phase: 'files', after: 'b', done: 2 });
    expect(await bench.slice(third).result).toMatchObject({ phase: 'files', after: '', done: 3 });
    expect(await bench.taken()).toEqual(['a', 'b', 'c']);
  });
});

describe('a file that the source does not give', () => {
  const listed = async () => (await bench.record()).refused.map(({ file_id, code }) => [file_id, code]);

  it.each([400, 410, 415, 422])('is listed and left out where it is refused with %i', async (status) => {
    bench = await importBench(['a', 'b', 'c']);
    bench.answers.set('/static/of-b', status);
    expect(await bench.run()).toMatchObject({ phase: 'done', done: 3, figures: { taken: 2, refused: 1 } });
    expect(await bench.taken()).toEqual(['a', 'c']);
    expect(await listed()).toEqual([['b', 'IMPORT_SOURCE_REFUSED']]);
  });

  it.each([
    ['is no JSON', '<html>'],
    ['has another form than the contract', { documents: [{ link: null }] }],
    ['has a link that cannot be read', { documents: [{ link: 'http://source/extract/100%' }] }],
  ])('is listed and left out where the answer about it %s', async (_what, answer) => {
    bench = await importBench(['a', 'b', 'c']);
    bench.answers.set('/partition/shelf/file/b?limit=1', answer);
    expect(await bench.run()).toMatchObject({ phase: 'done', done: 3, figures: { taken: 2, refused: 1 } });
    expect(await listed()).toEqual([['b', 'IMPORT_SOURCE_REFUSED']]);
  });

  it('ends the run where no answer of the source can be read', async () => {
    bench = await importBench(['a', 'b', 'c']);
    const users = await bench.slice(null).result;
    bench.answers.set('/static/of-a', 422);
    bench.onAsked('/static/of-a', () => bench.answers.set('/partition/', '<html>'));
    await expect(bench.slice(users).result).rejects.toMatchObject({
      code: 'IMPORT_SOURCE_REFUSED',
      message: 'The answer to /partition/ is no JSON.',
    });
    expect(await listed()).toEqual([]);
  });

  const FAILED = { code: 'IMPORT_SOURCE_FAILED' };

  /** One attempt that fails; the next goes on from the position that it has told last. */
  async function failedAttempt(users: ImportPosition, attempt: number, heartbeatDetails: unknown) {
    const { result, beats } = bench.slice(users, { attempt, ...(attempt > 1 && { heartbeatDetails }) });
    await expect(result).rejects.toMatchObject(FAILED);
    return beats.at(-1);
  }

  it('is tried again, and left out once the source has answered all else for some attempts', async () => {
    bench = await importBench(['a', 'b', 'c'], { failingMs: 0 });
    bench.answers.set('/static/of-b', 500);
    const users = await bench.slice(null).result;
    let heartbeatDetails: unknown;
    for (const attempt of [1, 2, 3]) {
      heartbeatDetails = await failedAttempt(users, attempt, heartbeatDetails);
      expect(heartbeatDetails).toMatchObject({ after: 'a', done: 1 });
    }
    const later = await bench.slice(users, { attempt: 4, heartbeatDetails }).result;
    expect(later).toMatchObject({ phase: 'workspaces', done: 3, figures: { taken: 2, refused: 1 } });
    expect(later).not.toHaveProperty('failing');
    expect(await listed()).toEqual([['b', 'IMPORT_SOURCE_FAILED']]);
  });

  it('is not left out within a minute, however often it is tried', async () => {
    bench = await importBench(['a', 'b']);
    bench.answers.set('/static/of-b', 503);
    const users = await bench.slice(null).result;
    let heartbeatDetails: unknown;
    for (const attempt of [1, 2, 3, 4, 5, 6])
      heartbeatDetails = await failedAttempt(users, attempt, heartbeatDetails);
    bench.answers.set('/static/of-b', 'b');
    const later = await bench.slice(users, { attempt: 7, heartbeatDetails }).result;
    expect(later).toMatchObject({ figures: { taken: 2 } });
    expect(await listed()).toEqual([]);
  });

  it('is not left out for what other files before it had to be tried', async () => {
    bench = await importBench(['a', 'b', 'c', 'd', 'e'], { failingMs: 0 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) bench.answers.set(`/static/of-${id}`, 503);
    const users = await bench.slice(null).result;
    let heartbeatDetails: unknown;
    for (const [at, id] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      heartbeatDetails = await failedAttempt(users, at + 1, heartbeatDetails);
      bench.answers.set(`/static/of-${id}`, id);
    }
    const later = await bench.slice(users, { attempt: 6, heartbeatDetails }).result;
    expect(later).toMatchObject({ done: 5, figures: { taken: 5 } });
    expect(await listed()).toEqual([]);
  });

  it.each([408, 423, 425])('is tried again where it is refused with %i, for the moment', async (status) => {
    bench = await importBench(['a', 'b']);
    bench.answers.set('/static/of-b', status);
    const users = await bench.slice(null).result;
    const heartbeatDetails = await failedAttempt(users, 1, undefined);
    bench.answers.set('/static/of-b', 'b');
    const later = await bench.slice(users, { attempt: 2, heartbeatDetails }).result;
    expect(later).toMatchObject({ figures: { taken: 2 } });
  });

  it.each([
    ['is away', 503, 'IMPORT_SOURCE_FAILED'],
    ['takes the token no more', 401, 'IMPORT_SOURCE_REFUSED'],
  ])('is not left out where the source %s', async (_what, status, code) => {
    bench = await importBench(['a', 'b', 'c'], { failingMs: 0 });
    const users = await bench.slice(null).result;
    const failing = { file_id: 'b', tries: 8, since: 0 };
    const heartbeatDetails = { ...users, partition: 'shelf', after: 'a', done: 1, failing };
    bench.answers.set('/static/of-b', status);
    bench.onAsked('/static/of-b', () => bench.answers.set('/partition/', status));
    await expect(bench.slice(users, { attempt: 9, heartbeatDetails }).result).rejects.toMatchObject({ code });
    expect(await listed()).toEqual([]);
  });
});

describe('a 404 of the source', () => {
  const FAILED = { code: 'IMPORT_SOURCE_FAILED', retryable: true };

  it('ends the run where the address is not that of the API', async () => {
    bench = await importBench(['a']);
    bench.answers.clear();
    await expect(bench.slice(null).result).rejects.toMatchObject({
      code: 'IMPORT_SOURCE_REFUSED',
      message: 'The source answered 404 to /users/: its address must be that of its API.',
    });
  });

  it('to everything is waited out, whatever was to be asked for', async () => {
    bench = await importBench(['a', 'b', 'c']);
    bench.answers.set('/partition/shelf/workspaces', { workspaces: [{ workspace_id: 'desk' }] });
    bench.answers.set('/partition/shelf/workspaces/desk/files', { file_ids: ['a'] });
    const whole = new Map<string, SourceAnswer>(bench.answers);
    let position = await bench.slice(null).result;
    const outage = async (path: string) => {
      bench.onAsked(path, () => bench.answers.clear());
      const attempt = bench.slice(position, { attempt: 9 });
      await expect(attempt.result).rejects.toMatchObject(FAILED);
      bench.onAsked(path, () => undefined);
      for (const [known, answer] of whole) bench.answers.set(known, answer);
      position = (attempt.beats.at(-1) as typeof position | undefined) ?? position;
    };
    await outage('/partition/');
    await outage('/partition/shelf/users');
    await outage('/partition/shelf/workspaces');
    await outage('/partition/shelf');
    await outage('/partition/shelf/file/b?limit=1');
    await outage('/static/of-c');
    position = await bench.slice(position).result;
    expect(position).toMatchObject({ phase: 'workspaces', done: 3, figures: { taken: 3 } });
    await outage('/partition/shelf/workspaces/desk/files');
    expect(await bench.taken()).toEqual(['a', 'b', 'c']);
  });

  it('to one thing alone means that it is gone', async () => {
    bench = await importBench(['a', 'b', 'c']);
    bench.answers.delete('/partition/shelf/users');
    bench.answers.delete('/partition/shelf/workspaces');
    bench.answers.delete('/partition/shelf/file/a?limit=1');
    bench.answers.delete('/static/of-b');
    expect(await bench.run()).toMatchObject({
      phase: 'done',
      done: 3,
      figures: { taken: 1, not_ready: 1, refused: 1 },
    });
    expect((await bench.record()).refused).toMatchObject([{ file_id: 'b', code: 'NOT_FOUND' }]);
  });

  it('to a partition that is listed is a failure, and one that is listed no more has no files', async () => {
    bench = await importBench(['a']);
    const users = await bench.slice(null).result;
    bench.answers.delete('/partition/shelf');
    await expect(bench.slice(users).result).rejects.toMatchObject(FAILED);
    bench.onAsked('/partition/shelf', () => bench.answers.set('/partition/', { partitions: [] }));
    expect(await bench.slice(users).result).toMatchObject({ phase: 'workspaces', done: 0, figures: {} });
  });
});

describe('a slice that breaks off', () => {
  it('has told which files were refused, and how far it came', async () => {
    bench = await importBench(['a', 'b', 'c']);
    bench.answers.set('/static/of-a', 410);
    bench.answers.set('/static/of-c', 503);
    const users = await bench.slice(null).result;
    const broken = bench.slice(users);
    await expect(broken.result).rejects.toMatchObject({ code: 'IMPORT_SOURCE_FAILED' });
    const refused = [{ partition: 'shelf', file_id: 'a', code: 'IMPORT_SOURCE_REFUSED' }];
    const figures = { taken: 1, refused: 1 };
    expect(await bench.record()).toMatchObject({ done: 2, phase: 'files', refused, figures });
    bench.answers.set('/static/of-c', 'c');
    await bench.slice(users, { attempt: 2, heartbeatDetails: broken.beats.at(-1) }).result;
    expect(await bench.record()).toMatchObject({ done: 3, refused, figures: { taken: 2, refused: 1 } });
  });

  it('has named them before it tells that it is behind them, for a worker that is killed', async () => {
    bench = await importBench(['a', 'b', 'c']);
    bench.answers.set('/static/of-a', 410);
    const users = await bench.slice(null).result;
    const names: Promise<string[]>[] = [];
    const named = async () => (await bench.record()).refused.map(({ file_id }) => file_id);
    bench.onAsked('/static/of-b', () => void names.push(named()));
    await bench.slice(users).result;
    expect(await Promise.all(names)).toEqual([['a']]);
  });

  it('names them where the record cannot be written for a while', async () => {
    bench = await importBench(['a', 'b', 'c']);
    bench.answers.set('/static/of-b', 410);
    const users = await bench.slice(null).result;
    const { imports } = bench.adapters;
    const { report } = imports;
    imports.report = () => Promise.reject(new AppError('SERVICE_UNAVAILABLE'));
    const broken = bench.slice(users);
    await expect(broken.result).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    imports.report = report;
    await bench.slice(users, { attempt: 2, heartbeatDetails: broken.beats.at(-1) }).result;
    const refused = [{ partition: 'shelf', file_id: 'b', code: 'IMPORT_SOURCE_REFUSED' }];
    expect(await bench.record()).toMatchObject({ done: 3, refused, figures: { taken: 2, refused: 1 } });
  });
});
