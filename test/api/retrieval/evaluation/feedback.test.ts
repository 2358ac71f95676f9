import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { askJson } from '../../support/ask-json.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText } from '../../support/uploads.js';

const FEEDBACK = '/evaluation/partition/one/feedback';
const SETS = '/evaluation/partition/one/question-sets';

let gateway: Gateway;
let owner: { token: string; userId: number };
let viewer: { token: string; userId: number };
let river: string;
let sea: string;
let foreign: string;

beforeEach(async () => {
  gateway = await startGateway();
  owner = gateway.addUser('owner');
  viewer = gateway.addUser('viewer');
  const index = async (partition: string, fileId: string) =>
    (await indexText(gateway, { partition, fileId, token: owner.token }, [`All of ${fileId} flows.`]))[0]!;
  [river, sea, foreign] = [
    await index('one', 'river'),
    await index('one', 'sea'),
    await index('two', 'lake'),
  ];
  gateway.addMember(viewer.userId, 'one', 'viewer');
});
afterEach(() => gateway.close());

function ask(method: string, path: string, body?: unknown, token = owner.token) {
  return askJson(gateway, method, path, { body, token });
}

const ANSWER = { answer_id: 'chatcmpl-1', rating: 'up', question: ' What flows? ', answer: 'The river [1].' };

function say(more: object = {}, token = viewer.token) {
  return ask('POST', FEEDBACK, { ...ANSWER, ...more }, token);
}

async function sayMany(...many: object[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [index, more] of many.entries())
    ids.push((await say({ answer_id: `chatcmpl-${index}`, question: `Q${index}?`, ...more }))[1].feedback_id);
  return ids;
}

describe('POST /evaluation/partition/{partition}/feedback', () => {
  it('is for whoever may chat there, and keeps the sources that are of this partition', async () => {
    const outsider = gateway.addUser('outsider');
    expect((await say({}, outsider.token))[0]).toBe(403);
    const sources = [
      { chunk_id: river, cited: true },
      { chunk_id: foreign, cited: true },
      { chunk_id: 'none', cited: true },
      { chunk_id: river },
      { chunk_id: sea },
    ];
    expect(await say({ sources })).toEqual([
      201,
      {
        feedback_id: expect.any(String),
        user_id: viewer.userId,
        ...ANSWER,
        question: 'What flows?',
        comment: null,
        sources: [
          { chunk_id: river, file_id: 'river', cited: true },
          { chunk_id: sea, file_id: 'sea', cited: false },
        ],
        used_in: [],
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
  });

  it('replaces what the same user said of the same answer', async () => {
    const [, first] = await say();
    const [, second] = await say({ rating: 'down', comment: 'Another river.' });
    expect(second.feedback_id).toBe(first.feedback_id);
    const [, { feedback }] = await ask('GET', FEEDBACK);
    expect(feedback).toEqual([expect.objectContaining({ rating: 'down', comment: 'Another river.' })]);
  });

  it.each([
    { rating: 'meh' },
    { question: '  ' },
    { answer: 'x'.repeat(32_001) },
    { answer_id: '' },
    { sources: [{ chunk_id: '' }] },
    { sources: Array.from({ length: 201 }, () => ({ chunk_id: 'c' })) },
    { more: 1 },
  ])('answers 422 to %#', async (more) => {
    expect((await say(more))[0]).toBe(422);
  });
});

describe('GET and DELETE /evaluation/partition/{partition}/feedback', () => {
  it('are for owners', async () => {
    const [first, second] = await sayMany({}, { rating: 'down' });
    expect((await ask('GET', FEEDBACK, undefined, viewer.token))[0]).toBe(403);
    const [, { feedback }] = await ask('GET', `${FEEDBACK}?rating=down`);
    expect(feedback.map(({ feedback_id: id }: { feedback_id: string }) => id)).toEqual([second]);
    expect((await ask('DELETE', `${FEEDBACK}/${first}`, undefined, viewer.token))[0]).toBe(403);
    expect((await ask('DELETE', `/evaluation/partition/two/feedback/${first}`))[0]).toBe(404);
    expect(await ask('DELETE', `${FEEDBACK}/${first}`)).toEqual([204, '']);
    expect((await ask('DELETE', `${FEEDBACK}/${first}`))[0]).toBe(404);
    expect((await ask('GET', FEEDBACK))[1].feedback).toHaveLength(1);
  });

  it('goes with its user', async () => {
    await say();
    await gateway.call('DELETE', `/users/${viewer.userId}`);
    expect(await ask('GET', FEEDBACK)).toEqual([200, { feedback: [] }]);
  });
});

describe('feedback that is much', () => {
  const MANY = 120;
  const PAGE = 50;
  let asked: number[];
  beforeEach(async () => {
    for (let index = 0; index < MANY; index++)
      await say({ answer_id: `many-${index}`, question: `Q${index}?`, answer: 'x'.repeat(8_000) });
    asked = [];
    const { feedback } = gateway.adapters;
    const { getMany } = feedback;
    feedback.getMany = (key, ids) => {
      asked.push(ids.length);
      return getMany(key, ids);
    };
  });

  it('is written while it is read, and what is removed meanwhile is left out', async () => {
    const { feedback } = gateway.adapters;
    const { getMany } = feedback;
    feedback.getMany = async (key, ids) => {
      if (asked.length === 1) await feedback.remove(key, ids[0]!);
      return getMany(key, ids);
    };
    const response = await gateway.call('GET', `${FEEDBACK}?limit=1000`, { token: owner.token });
    // Its length is known of what is written at once alone.
    expect(response.headers.get('content-length')).toBeNull();
    const { feedback: rows } = (await response.json()) as { feedback: { question: string }[] };
    const questions = Array.from({ length: MANY }, (_, index) => `Q${MANY - 1 - index}?`);
    questions.splice(PAGE, 1);
    expect(rows.map(({ question }) => question)).toEqual(questions);
    expect(asked).toEqual([PAGE, PAGE, MANY - 2 * PAGE]);
  });

  it('becomes questions a page at a time', async () => {
    const [, { feedback: rows }] = await ask('GET', `${FEEDBACK}?limit=1000`);
    asked = [];
    const feedback = rows.map(({ feedback_id }: { feedback_id: string }) => ({
      feedback_id,
      not_answerable: true,
    }));
    expect(await ask('POST', `${SETS}/main/from-feedback`, { feedback })).toMatchObject([
      201,
      { questions: MANY },
    ]);
    expect(asked).toEqual([PAGE, PAGE, MANY - 2 * PAGE]);
    feedback[70] = { feedback_id: 'none', not_answerable: true };
    expect(await ask('POST', `${SETS}/main/from-feedback`, { feedback })).toMatchObject([
      422,
      { detail: [{ loc: ['body', 'feedback', 70] }] },
    ]);
  });
});

describe('POST /evaluation/partition/{partition}/question-sets/{set}/from-feedback', () => {
  const turn = (feedback: object[], name = 'used', token = owner.token) =>
    ask('POST', `${SETS}/${name}/from-feedback`, { feedback }, token);

  it('is for owners, and takes what an answer with thumbs up cites as relevant', async () => {
    const [first] = await sayMany({ sources: [{ chunk_id: river, cited: true }, { chunk_id: sea }] });
    expect((await turn([{ feedback_id: first }], 'used', viewer.token))[0]).toBe(403);
    expect(await turn([{ feedback_id: first }])).toEqual([
      201,
      expect.objectContaining({ name: 'used', version: 1, questions: 1 }),
    ]);
    const [, { questions }] = await ask('GET', `${SETS}/used/questions`);
    expect(questions).toEqual([
      {
        id: expect.any(String),
        question: 'Q0?',
        relevant: [{ file_id: 'river', passage: null, grade: 1 }],
        expected_answer: null,
        not_answerable: false,
      },
    ]);
    expect((await ask('GET', FEEDBACK))[1].feedback[0].used_in).toEqual(['used']);
  });

  it('adds to what the set has, in a new version, and replaces a question that is there', async () => {
    await ask('POST', `${SETS}/used`, { format: 'jsonl', content: '{"question":"Old?","relevant":["sea"]}' });
    const [first, second] = await sayMany({}, { rating: 'down' });
    const judged = [
      { feedback_id: first, relevant: [{ file_id: 'sea', grade: 2 }, { passage: 'of river flows' }] },
      { feedback_id: second, not_answerable: true },
    ];
    expect((await turn(judged))[1]).toMatchObject({ version: 2, questions: 3, not_answerable: 1 });
    expect((await turn([{ feedback_id: second, expected_answer: 'The sea.' }]))[1]).toMatchObject({
      version: 3,
      questions: 3,
      not_answerable: 0,
    });
    const [, { questions }] = await ask('GET', `${SETS}/used/questions`);
    expect(questions.map(({ question }: { question: string }) => question)).toEqual(['Old?', 'Q0?', 'Q1?']);
  });

  it('replaces a question of the same text that has an id of its own, and keeps the id', async () => {
    const content = '{"id":"q1","question":"Q0?","relevant":["sea"]}';
    await ask('POST', `${SETS}/used`, { format: 'jsonl', content });
    const [first] = await sayMany({});
    expect((await turn([{ feedback_id: first, relevant: [{ file_id: 'river' }] }]))[1]).toMatchObject({
      questions: 1,
    });
    const [, { questions }] = await ask('GET', `${SETS}/used/questions`);
    expect(questions).toEqual([
      expect.objectContaining({ id: 'q1', relevant: [expect.objectContaining({ file_id: 'river' })] }),
    ]);
  });

  it('says which feedback makes no question, and changes nothing then', async () => {
    const [up, down] = await sayMany({ sources: [] }, { rating: 'down' });
    const [status, body] = await turn([
      { feedback_id: up },
      { feedback_id: down },
      { feedback_id: 'none' },
      { feedback_id: down, not_answerable: true, expected_answer: 'x' },
      { feedback_id: down, relevant: [{}] },
      { feedback_id: down, relevant: [{ passage: '—' }] },
      { feedback_id: down, relevant: [{ file_id: 'sea' }, { file_id: 'sea', grade: 2 }] },
    ]);
    expect(status).toBe(422);
    expect(body.detail.map(({ loc, msg }: { loc: unknown[]; msg: string }) => [loc.at(-1), msg])).toEqual([
      [0, expect.stringContaining('cites nothing')],
      [1, expect.stringContaining('thumbs down')],
      [2, 'There is no such feedback.'],
      [3, expect.stringContaining('neither')],
      [4, expect.stringContaining("'file_id' or a 'passage'")],
      [5, expect.stringContaining('a letter or a digit')],
      [6, expect.stringContaining('named twice')],
    ]);
    expect((await ask('GET', `${SETS}/used`))[0]).toBe(404);
  });
});
