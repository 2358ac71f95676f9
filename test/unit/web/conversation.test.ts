import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { until } from '../../support/until.js';
import { loadWeb } from '../../support/load-web.js';

interface Shown {
  id: string | null;
  title: string;
  revision: number;
  loading: boolean;
  messages: { id: number; role: string; content: string; state: string }[];
  fault: { code: string } | null;
}

interface Conversation {
  current(): Shown;
  ask(question: string): Promise<void>;
  open(id: string): Promise<void>;
  begin(): void;
  keep(): Promise<void>;
  askAgain(id: number, question: string): Promise<void>;
  rename(id: string, title: string): Promise<void>;
  keepAsNew(): Promise<void>;
  setAbout(about: { scope: object }): void;
}

interface Stored {
  title: string;
  revision: number;
  messages: { role: string; content: string }[];
}

/** What is sent, of one kind or another. */
type Body = Stored & { keep: number };

/** What the server keeps, by id; it checks the revision of messages and not that of other changes, as ours does. */
const stored = new Map<string, Stored>();
/** Answers to the reading of a conversation wait for these. */
const held = new Map<string, Promise<void>>();

/** The server takes messages, and answers that it failed. */
let failsLate = false;

/** The messages of each chat. */
const asked: Stored['messages'][] = [];

const SCOPE = { partition: null, workspace: null, file_id: null };

function headOf(id: string, { title, revision }: Stored) {
  return Response.json({ conversation_id: id, title, revision, scope: SCOPE, preset: null });
}

function answerOf(text: string): Response {
  const chunk = { id: 'an-answer', choices: [{ delta: { content: text }, finish_reason: 'stop' }] };
  return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
}

async function serve(input: Request | string, init?: RequestInit): Promise<Response> {
  const request = typeof input === 'string' ? new Request(`http://console.test${input}`, init) : input;
  const { pathname } = new URL(request.url);
  if (pathname === '/v1/chat/completions') {
    asked.push(((await request.json()) as Pick<Stored, 'messages'>).messages);
    return answerOf('The answer.');
  }
  const [, , , , id, messages] = pathname.split('/');
  const body = (request.method === 'GET' ? {} : await request.json()) as Body;
  if (id === undefined) {
    const made: Stored = { title: body.title, revision: 1, messages: [] };
    stored.set('made', made);
    return headOf('made', made);
  }
  await held.get(id);
  const known = stored.get(id);
  if (known === undefined) return Response.json({ detail: '[NOT_FOUND]: There is none' }, { status: 404 });
  if (request.method === 'GET')
    return Response.json({ ...((await headOf(id, known).json()) as object), messages: known.messages });
  if (messages === undefined) known.title = (body as Partial<Body>).title ?? known.title;
  else if (body.revision !== known.revision)
    return Response.json({ detail: '[CONFLICT]: It has changed' }, { status: 409 });
  else known.messages = [...known.messages.slice(0, body.keep), ...body.messages];
  known.revision += 1;
  if (failsLate && messages !== undefined) return new Response('', { status: 500 });
  return headOf(id, known);
}

Object.assign(globalThis, { window: { location: { origin: 'http://console.test' } }, fetch: jest.fn(serve) });
const { conversation } = await loadWeb<{ conversation: Conversation }>('pages/documents/chat/conversation');
const { keptSources } = await loadWeb<{
  keptSources(
    extra: Record<'sources' | 'cited_sources' | 'presented_sources', object[]>,
  ): { title: string | null }[];
}>('pages/documents/chat/sources');

function texts({ messages }: Pick<Stored, 'messages'>): string[] {
  return messages.map(({ content }) => content);
}

function keeps(id: string, ...contents: string[]): Stored {
  const messages = contents.map((content, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content,
    state: 'done',
    answer_id: null,
    sources: [],
    degraded: [],
    truncated: false,
  }));
  const made = { title: id, revision: 5, messages };
  stored.set(id, made);
  return made;
}

beforeEach(() => {
  conversation.begin();
  stored.clear();
  held.clear();
  failsLate = false;
  asked.length = 0;
});

describe('a conversation that is changed', () => {
  it('goes on after it was renamed in this window, and shows its new title', async () => {
    const one = keeps('one', 'A question', 'Its answer');
    await conversation.open('one');
    await conversation.rename('one', 'Prices');
    expect(conversation.current()).toMatchObject({ title: 'Prices', revision: 6 });
    await conversation.ask('Another question');
    await until('it is kept', async () => one.messages.length === 4);
    expect(conversation.current()).toMatchObject({ fault: null });
  });

  it('leaves the one that is shown alone when another one is renamed', async () => {
    keeps('one', 'A question');
    const other = keeps('other', 'A question');
    await conversation.open('one');
    await conversation.rename('other', 'Prices');
    expect(other).toMatchObject({ title: 'Prices', revision: 6 });
    expect(conversation.current()).toMatchObject({ title: 'one', revision: 5 });
  });

  it('does not replace what another window has asked meanwhile', async () => {
    const one = keeps('one', 'A question', 'Its answer');
    await conversation.open('one');
    one.messages.push({ role: 'user', content: 'Elsewhere' }, { role: 'assistant', content: 'Answered' });
    one.revision += 1;
    conversation.setAbout({ scope: { ...SCOPE, partition: 'mill' } });
    await until('the scope is kept', async () => one.revision === 7);
    await conversation.ask('Another question');
    await until('it is refused', async () => conversation.current().fault);
    expect(conversation.current().fault).toMatchObject({ code: 'CONFLICT' });
    expect(texts(one)).toEqual(['A question', 'Its answer', 'Elsewhere', 'Answered']);

    // What is not kept stays said, also where another change is.
    conversation.setAbout({ scope: SCOPE });
    await until('the scope is kept', async () => one.revision === 8);
    await new Promise(setImmediate);
    expect(conversation.current().fault).toMatchObject({ code: 'CONFLICT' });

    // Both stay: theirs as it is, and what this window shows as another one.
    await conversation.keepAsNew();
    expect(texts(one)).toEqual(['A question', 'Its answer', 'Elsewhere', 'Answered']);
    const mine = ['A question', 'Its answer', 'Another question', 'The answer.'];
    expect(texts(stored.get('made')!)).toEqual(mine);
    expect(conversation.current()).toMatchObject({ id: 'made', fault: null });
    expect(texts(conversation.current())).toEqual(mine);
  });

  it('keeps an answer that came after another window gave it a title', async () => {
    const one = keeps('one', 'A question', 'Its answer');
    await conversation.open('one');
    Object.assign(one, { title: 'Prices', revision: 6 });
    await conversation.ask('Another question');
    await until('it is kept', async () => one.messages.length === 4);
    expect(conversation.current()).toMatchObject({ title: 'Prices', fault: null });
  });

  it('keeps another question in the place of one, after another window gave it a title', async () => {
    const one = keeps('one', 'A question', 'Its answer', 'Refused', 'No');
    await conversation.open('one');
    Object.assign(one, { title: 'Prices', revision: 6 });
    await conversation.askAgain(conversation.current().messages[2]!.id, 'Put otherwise');
    await until('it is kept', async () => one.messages.at(-1)?.content === 'The answer.');
    expect(texts(one)).toEqual(['A question', 'Its answer', 'Put otherwise', 'The answer.']);
    expect(conversation.current().fault).toBeNull();
  });

  it('goes on where the server took messages and answered that it failed', async () => {
    const one = keeps('one', 'A question', 'Its answer');
    await conversation.open('one');
    failsLate = true;
    await conversation.ask('Another question');
    await until('it is not known whether it is kept', async () => conversation.current().fault);
    failsLate = false;
    await conversation.keep();
    expect(texts(one)).toEqual(['A question', 'Its answer', 'Another question', 'The answer.']);
    expect(conversation.current().fault).toBeNull();
  });

  it('begins another one with what it shows where it was deleted', async () => {
    keeps('one', 'A question', 'Its answer');
    await conversation.open('one');
    stored.delete('one');
    await conversation.ask('Another question');
    await until('it is refused', async () => conversation.current().fault);
    await conversation.keepAsNew();
    const all = ['A question', 'Its answer', 'Another question', 'The answer.'];
    expect(texts(stored.get('made')!)).toEqual(all);
    expect(conversation.current()).toMatchObject({ id: 'made', fault: null });
  });
});

/** Keeps the answer to the reading of a conversation back until it is let go. */
function hold(id: string): () => void {
  let release: () => void = () => undefined;
  held.set(id, new Promise((resolve) => (release = resolve)));
  return release;
}

describe('a conversation whose texts are longer than the server keeps', () => {
  it.each([
    { whole: 'x'.repeat(98), question: `${'x'.repeat(98)}🚂, and more` },
    { whole: 'x'.repeat(99), question: `${'x'.repeat(99)}🚂, and more` },
  ])('has a title that is cut between two characters', async ({ whole, question }) => {
    await conversation.ask(question);
    const title = await until('it is kept', async () => stored.get('made')?.title);
    expect(title).toBe(whole.length === 98 ? `${whole}🚂` : whole);
    expect(conversation.current().title).toBe(title);
  });

  it('keeps the beginning of a message up to a whole character', async () => {
    await conversation.ask(`${'x'.repeat(31_999)}🚂`);
    const first = await until('it is kept', async () => stored.get('made')?.messages[0]);
    expect(first.content).toBe('x'.repeat(31_999));
  });
});

describe('the sources of an answer', () => {
  it('have titles that are cut between two characters', () => {
    const source = (original: string | null, title?: string) => ({
      source_type: 'document',
      ...(original !== null && { chunk: { _id: original, original_filename: original } }),
      ...(title !== undefined && { title, url: 'https://mill.example/' }),
    });
    const titlesOf = (...sources: object[]) =>
      keptSources({ sources, cited_sources: [], presented_sources: sources }).map(({ title }) => title);
    const [fits, half] = ['x'.repeat(498), 'x'.repeat(499)];
    expect(
      titlesOf(source(`${fits}🚂.md`), source(`${half}🚂.md`), source(null, 'Page'), source(null)),
    ).toEqual([`${fits}🚂`, half, 'Page', null]);
  });
});

describe('a conversation in which an answer failed', () => {
  it('goes on without the question that was not answered', async () => {
    keeps('one', 'A question', 'Its answer', 'Refused', '');
    await conversation.open('one');
    await conversation.ask('Another question');
    expect(asked).toEqual([
      [
        { role: 'user', content: 'A question' },
        { role: 'assistant', content: 'Its answer' },
        { role: 'user', content: 'Another question' },
      ],
    ]);
    expect(texts(conversation.current())).toEqual([
      'A question',
      'Its answer',
      'Refused',
      '',
      'Another question',
      'The answer.',
    ]);
  });
});

describe('a conversation that is opened', () => {
  it('makes way at once, so that nothing is asked of the one before', async () => {
    keeps('one', 'A question');
    keeps('two', 'Another question');
    await conversation.open('one');
    const release = hold('two');
    const opening = conversation.open('two');
    expect(conversation.current()).toMatchObject({ id: null, title: '', messages: [], loading: true });
    release();
    await opening;
    expect(conversation.current()).toMatchObject({ id: 'two', loading: false });
    expect(texts(conversation.current())).toEqual(['Another question']);
  });

  it('does not come back when another one was opened since', async () => {
    keeps('one', 'A question');
    keeps('two', 'Another question');
    const release = hold('one');
    const opening = conversation.open('one');
    await conversation.open('two');
    release();
    await opening;
    expect(conversation.current()).toMatchObject({ id: 'two', loading: false });
  });

  it('does not come back when one was begun since, nor does its error', async () => {
    keeps('one', 'A question');
    const releases = [hold('one'), hold('gone')];
    const openings = [conversation.open('one'), conversation.open('gone')];
    conversation.begin();
    releases.forEach((release) => release());
    await Promise.all(openings);
    expect(conversation.current()).toMatchObject({ id: null, messages: [], loading: false });
  });

  it('does not take the place of what was asked since', async () => {
    keeps('one', 'A question');
    const release = hold('one');
    const opening = conversation.open('one');
    await conversation.ask('At once');
    release();
    await opening;
    expect(texts(conversation.current())).toEqual(['At once', 'The answer.']);
    expect(conversation.current().loading).toBe(false);
  });

  it('leaves an empty one behind where there is none', async () => {
    keeps('one', 'A question');
    await conversation.open('one');
    await expect(conversation.open('gone')).rejects.toMatchObject({ status: 404 });
    expect(conversation.current()).toMatchObject({ id: null, messages: [], loading: false });
  });
});
