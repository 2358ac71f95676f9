import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { askJson } from '../../support/ask-json.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';

const SETS = '/evaluation/partition/one/question-sets';
const QUESTIONS = [
  { id: 'flows', question: 'What flows?', relevant: ['river.md', { file_id: 'sea.md', grade: 2 }] },
  { id: 'stays', question: 'What stays?', not_answerable: true },
];
const CONTENT = QUESTIONS.map((question) => JSON.stringify(question)).join('\n');

let gateway: Gateway;
let owner: { token: string; userId: number };
let editor: { token: string; userId: number };
let viewer: { token: string; userId: number };

beforeEach(async () => {
  gateway = await startGateway();
  owner = gateway.addUser('owner');
  editor = gateway.addUser('editor');
  viewer = gateway.addUser('viewer');
  await gateway.call('POST', '/partition/one', { token: owner.token });
  gateway.addMember(editor.userId, 'one', 'editor');
  gateway.addMember(viewer.userId, 'one', 'viewer');
});
afterEach(() => gateway.close());

function ask(method: string, path: string, body?: unknown, token = editor.token) {
  return askJson(gateway, method, path, { body, token });
}

function upload(name: string, content = CONTENT, format = 'jsonl') {
  return ask('POST', `${SETS}/${name}`, { format, content });
}

const VERSION = {
  name: 'main',
  version: 1,
  questions: 2,
  not_answerable: 1,
  note: null,
  created_by: expect.any(String),
  created_at: expect.any(String),
};

describe('POST /evaluation/partition/{partition}/question-sets/{set}', () => {
  it('is for editors, and counts versions', async () => {
    expect((await ask('POST', `${SETS}/main`, { format: 'jsonl', content: CONTENT }, viewer.token))[0]).toBe(
      403,
    );
    expect(await upload('main')).toEqual([201, { ...VERSION, created_by: String(editor.userId) }]);
    const csv = { format: 'csv', content: 'question,file_id\nWho?,a\n', note: 'from the mail' };
    expect(await ask('POST', `${SETS}/main`, csv)).toEqual([
      201,
      { ...VERSION, version: 2, questions: 1, not_answerable: 0, note: 'from the mail' },
    ]);
    expect(await upload('other')).toEqual([201, { ...VERSION, name: 'other' }]);
  });

  it('refuses a table with two expected answers to one question; the same twice is one', async () => {
    const table = (answer: string) =>
      `question,file_id,expected_answer\nWho?,a,The miller.\nWho?,b,\nWho?,c,${answer}\n`;
    const [status, body] = await upload('main', table('The farmer.'), 'csv');
    expect(status).toBe(422);
    expect(body.detail).toEqual([
      expect.objectContaining({ msg: expect.stringMatching(/^Line 4: expected_answer: a row above/) }),
    ]);
    expect((await upload('main', table('The miller.'), 'csv'))[0]).toBe(201);
  });

  it('says of each line what is wrong, and keeps nothing', async () => {
    const [status, body] = await upload('main', `${CONTENT}\n{"question":"Why?"}\nnonsense`);
    expect(status).toBe(422);
    expect(body.detail).toEqual([
      expect.objectContaining({
        loc: ['body', 'content', 3],
        msg: expect.stringMatching(/^Line 3: It needs/),
      }),
      expect.objectContaining({ loc: ['body', 'content', 4], msg: 'Line 4: The line is not valid JSON.' }),
    ]);
    expect(await ask('GET', SETS)).toEqual([200, { question_sets: [] }]);
  });

  it.each([
    ['a%20b', { format: 'jsonl', content: CONTENT }, 400],
    ['..%2f', { format: 'jsonl', content: CONTENT }, 400],
    ['main', { format: 'xlsx', content: CONTENT }, 422],
    ['main', { format: 'jsonl' }, 422],
    ['main', { format: 'jsonl', content: CONTENT, more: 1 }, 422],
    ['main', { format: 'jsonl', content: 'x'.repeat(6_000_001) }, 422],
    ['main', { format: 'jsonl', content: 'x'.repeat(9_000_000) }, 413],
  ])('refuses %s with %#', async (name, body, status) => {
    expect((await ask('POST', `${SETS}/${name}`, body))[0]).toBe(status);
  });

  it('keeps a hundred sets, and twenty versions of each', async () => {
    const key = (await gateway.adapters.partitions.get('one'))!.partition_key;
    const { questionSets } = gateway.adapters;
    for (let index = 0; index < 99; index += 1)
      await questionSets.add({ partition_key: key, name: `s${index}`, note: null, created_by: '1' }, [], 1);
    for (let turn = 0; turn < 21; turn += 1) expect((await upload('main'))[0]).toBe(201);
    const [status, body] = await upload('one-more');
    expect([status, body.detail]).toEqual([409, expect.stringContaining('[EVALUATION_LIMIT_EXCEEDED]')]);
    const [, set] = await ask('GET', `${SETS}/main`);
    expect(set.versions.map(({ version }: { version: number }) => version)).toEqual(
      Array.from({ length: 20 }, (_, index) => 21 - index),
    );
  });
});

describe('GET /evaluation/partition/{partition}/question-sets', () => {
  it('lists the newest version of each, of this partition alone', async () => {
    await gateway.call('POST', '/partition/two', { token: owner.token });
    for (const name of ['main', 'main', 'a']) await upload(name);
    expect((await ask('GET', SETS, undefined, viewer.token))[0]).toBe(403);
    expect(await ask('GET', SETS)).toEqual([
      200,
      {
        question_sets: [
          { ...VERSION, name: 'a' },
          { ...VERSION, version: 2 },
        ],
      },
    ]);
    const other = SETS.replace('one', 'two');
    expect(await ask('GET', other, undefined, owner.token)).toEqual([200, { question_sets: [] }]);
    expect((await ask('GET', `${other}/main`, undefined, owner.token))[0]).toBe(404);
    expect((await ask('GET', `${other}/main/questions`, undefined, owner.token))[0]).toBe(404);
    expect((await ask('DELETE', `${other}/main`, undefined, owner.token))[0]).toBe(404);
  });
});

describe('GET /evaluation/partition/{partition}/question-sets/{set}/questions', () => {
  it('answers the questions of a version, page by page', async () => {
    await upload('main');
    await upload('main', '{"question":"New?","relevant":["a"]}');
    const path = `${SETS}/main/questions`;
    const [first, second] = QUESTIONS;
    const questions = [
      {
        id: 'flows',
        question: first!.question,
        relevant: [
          { file_id: 'river.md', passage: null, grade: 1 },
          { file_id: 'sea.md', passage: null, grade: 2 },
        ],
        expected_answer: null,
        not_answerable: false,
      },
      { ...second, relevant: [], expected_answer: null },
    ];
    expect(await ask('GET', `${path}?version=1`)).toEqual([200, { version: 1, total: 2, questions }]);
    expect(await ask('GET', `${path}?version=1&offset=1&limit=1`)).toEqual([
      200,
      { version: 1, total: 2, questions: [questions[1]] },
    ]);
    expect((await ask('GET', path))[1]).toMatchObject({ version: 2, questions: [{ question: 'New?' }] });
    expect(await ask('GET', `${path}?version=3`)).toEqual([
      404,
      expect.objectContaining({
        detail: "[QUESTION_SET_NOT_FOUND]: There is no question set 'main' of version 3.",
      }),
    ]);
    expect((await ask('GET', `${path}?limit=1001`))[0]).toBe(422);
  });
});

describe('DELETE /evaluation/partition/{partition}/question-sets/{set}', () => {
  it('removes all versions', async () => {
    await upload('main');
    await upload('main');
    expect((await ask('DELETE', `${SETS}/main`, undefined, viewer.token))[0]).toBe(403);
    expect(await ask('DELETE', `${SETS}/main`)).toEqual([204, '']);
    expect((await ask('DELETE', `${SETS}/main`))[0]).toBe(404);
    expect((await ask('GET', `${SETS}/main`))[0]).toBe(404);
  });

  it('and with its partition, of which a later one of the name knows nothing', async () => {
    await upload('main');
    const key = (await gateway.adapters.partitions.get('one'))!.partition_key;
    expect((await ask('DELETE', '/partition/one', undefined, owner.token))[0]).toBe(204);
    expect(await gateway.adapters.questionSets.list(key)).toEqual([]);
    await ask('POST', '/partition/one', undefined, owner.token);
    expect(await ask('GET', SETS, undefined, owner.token)).toEqual([200, { question_sets: [] }]);
  });
});
