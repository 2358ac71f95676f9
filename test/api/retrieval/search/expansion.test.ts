import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { askJson } from '../../support/ask-json.js';
import type { LooseBody } from '../../support/loose-body.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText } from '../../support/uploads.js';

let gateway: Gateway;
let ada: { token: string };
let bob: { token: string };

function put(
  fileId: string,
  metadata: object,
  lines: string[],
  where = { partition: 'mail', token: ada.token },
) {
  return indexText(gateway, { ...where, fileId, metadata: JSON.stringify(metadata) }, lines);
}

/** A group of three, a chain of four in one thread, two files that are each other's parent, and an outsider's. */
beforeAll(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada');
  bob = gateway.addUser('bob');
  for (const [index, animal] of ['heron', 'otter', 'beaver'].entries())
    await put(`group-${index}`, { relationship_id: 'animals', animal }, [
      `The ${animal} lives here.`,
      ...Array.from({ length: 30 }, (_, line) => `Line ${line} on animal ${index}.`),
    ]);
  for (const index of [0, 1, 2, 3])
    await put(
      `chain-${index}`,
      { relationship_id: 'thread', ...(index > 0 && { parent_id: `chain-${index - 1}` }) },
      [`Letter number ${['one', 'two', 'three', 'quince'][index]}.`],
    );
  await put('loop-a', { relationship_id: 'loop', parent_id: 'loop-b' }, ['A snake called ouroboros.']);
  await put('loop-b', { relationship_id: 'loop', parent_id: 'loop-a' }, ['It bites its tail.']);
  await put('alone', { parent_id: 'chain-0' }, ['A walnut by itself.']);
  const theirs = { partition: 'bobs', token: bob.token };
  await put('group-9', { relationship_id: 'animals' }, ['A secret animal.'], theirs);
  await put('chain-0', { relationship_id: 'thread' }, ['A secret letter.'], theirs);
});
afterAll(() => gateway.close());

async function ask(query: string, token = ada.token): Promise<LooseBody[]> {
  const [status, body] = await askJson(gateway, 'GET', `/search/partition/mail?${query}`, { token });
  expect([query, status]).toEqual([query, 200]);
  const ids = body.documents.map(({ metadata }: LooseBody) => metadata._id);
  expect(new Set(ids).size).toBe(ids.length);
  return body.documents;
}

function filesOf(documents: LooseBody[]) {
  return [...new Set(documents.map(({ metadata }) => metadata.file_id))];
}

describe('include_related', () => {
  it('adds chunks of exactly the group, behind the results, each once and with its file name', async () => {
    expect(filesOf(await ask('text=heron&top_k=1'))).toEqual(['group-0']);
    const documents = await ask('text=heron&top_k=1&include_related=true');
    expect(filesOf(documents)).toEqual(['group-0', 'group-1', 'group-2']);
    expect(documents[0].content).toBe('The heron lives here.');
    expect(documents).toHaveLength(1 + 20);
    for (const { metadata } of documents) expect(metadata.filename).toBe('notes.txt');
    expect(documents[0].metadata).toHaveProperty('combined_score');
    expect(documents[1].metadata).not.toHaveProperty('combined_score');
  });

  it('keeps to related_limit, shared among the files of the group', async () => {
    const limited = await ask('text=heron&top_k=1&include_related=true&related_limit=3');
    expect(limited.map(({ metadata }) => metadata.file_id)).toEqual([
      'group-0',
      'group-1',
      'group-1',
      'group-2',
    ]);
    expect(await ask('text=heron&top_k=1&include_related=true&related_limit=0')).toHaveLength(1);
    const one = await ask('text=heron&top_k=1&include_related=true&related_limit=1');
    expect(one.map(({ content }) => content)).toEqual(['The heron lives here.', 'The otter lives here.']);
  });

  it('adds nothing to files without a group, nor across partitions', async () => {
    expect(filesOf(await ask('text=walnut&top_k=1&include_related=true'))).toEqual(['alone']);
    const texts = (await ask('text=heron&top_k=1&include_related=true&related_limit=500')).map(
      ({ content }) => content,
    );
    expect(texts).not.toContain('A secret animal.');
  });

  it('adds nothing that the filter does not hold of, or that is outside the workspace', async () => {
    const filter = encodeURIComponent('animal in ["heron", "beaver"]');
    const documents = await ask(`text=heron&top_k=1&include_related=true&filter=${filter}`);
    expect(filesOf(documents)).toEqual(['group-0', 'group-2']);
    const token = ada.token;
    await askJson(gateway, 'POST', '/partition/mail/workspaces', { token, body: { workspace_id: 'w' } });
    await askJson(gateway, 'POST', '/partition/mail/workspaces/w/files', {
      token,
      body: { file_ids: ['group-0', 'group-1'] },
    });
    const within = await ask('text=heron&top_k=1&include_related=true&workspace=w');
    expect(filesOf(within)).toEqual(['group-0', 'group-1']);
  });
});

describe('include_related in a group of which most does not count', () => {
  const partition = 'flock';
  const within = (query: string) =>
    askJson(
      gateway,
      'GET',
      `/search/partition/${partition}?text=curlew&top_k=1&include_related=true&${query}`,
      {
        token: ada.token,
      },
    ).then(([, { documents }]) => documents as LooseBody[]);
  beforeAll(async () => {
    const where = { partition, token: ada.token };
    const place = (fileId: string, line: string, shelf: string) =>
      put(fileId, { relationship_id: 'birds', shelf }, [line], where);
    for (let bird = 10; bird < 35; bird += 1)
      await place(`a${bird}`, `A common bird, number ${bird}.`, 'low');
    await place('z1', 'The curlew calls.', 'high');
    await place('z2', 'Its nest is well hidden.', 'high');
    const { token } = ada;
    await askJson(gateway, 'POST', `/partition/${partition}/workspaces`, {
      token,
      body: { workspace_id: 'w' },
    });
    const body = { file_ids: ['z1', 'z2'] };
    await askJson(gateway, 'POST', `/partition/${partition}/workspaces/w/files`, { token, body });
  });

  it.each(['workspace=w', `filter=${encodeURIComponent('shelf == "high"')}`])(
    'looks behind the first files: %s',
    async (query) => {
      expect(filesOf(await within(query))).toEqual(['z1', 'z2']);
      expect(filesOf(await within(`${query}&related_limit=1`))).toEqual(['z1', 'z2']);
    },
  );

  it('adds as many as were asked for', async () => {
    expect(filesOf(await within('related_limit=3'))).toEqual(['z1', 'a10', 'a11', 'a12']);
  });
});

describe('include_ancestors', () => {
  it('adds the files above, nearest first', async () => {
    const documents = await ask('text=quince&top_k=1&include_ancestors=true');
    expect(filesOf(documents)).toEqual(['chain-3', 'chain-2', 'chain-1', 'chain-0']);
    expect(documents.map(({ content }) => content)).not.toContain('A secret letter.');
  });

  it('keeps to max_ancestor_depth and related_limit', async () => {
    const chain = async (rest: string) =>
      filesOf(await ask(`text=quince&top_k=1&include_ancestors=true&${rest}`));
    expect(await chain('max_ancestor_depth=1')).toEqual(['chain-3', 'chain-2']);
    expect(await chain('max_ancestor_depth=0')).toEqual(['chain-3']);
    expect(await chain('related_limit=2')).toEqual(['chain-3', 'chain-2', 'chain-1']);
  });

  it('survives a circle, and a chain without a relationship id', async () => {
    expect(filesOf(await ask('text=ouroboros&top_k=1&include_ancestors=true'))).toEqual(['loop-a', 'loop-b']);
    expect(filesOf(await ask('text=walnut&top_k=1&include_ancestors=true'))).toEqual(['alone']);
  });

  it('asks for the chunks of 2,000 files at most, however long the chains of its results are', async () => {
    const long = gateway.addUser('long');
    const where = { partition: 'long', token: long.token };
    for (let index = 0; index < 70; index += 1)
      await put(
        `mail-${index}`,
        { relationship_id: 'thread', ...(index > 0 && { parent_id: `mail-${index - 1}` }) },
        [`Letter ${index}.`],
        where,
      );
    const listed = jest.spyOn(gateway.adapters.chunks, 'listByFile');
    const path = '/search/partition/long?text=letter&top_k=70&include_ancestors=true&related_limit=500';
    const [status, { documents }] = await askJson(gateway, 'GET', path, { token: long.token });
    expect([status, documents.length]).toEqual([200, 70]);
    expect(listed.mock.calls.length).toBeLessThanOrEqual(2_000);
    expect(listed.mock.calls.length).toBeGreaterThan(500);
    listed.mockRestore();
  });

  it('goes with include_related without double chunks', async () => {
    const documents = await ask('text=quince&top_k=1&include_ancestors=true&include_related=true');
    expect(filesOf(documents).sort()).toEqual(['chain-0', 'chain-1', 'chain-2', 'chain-3']);
  });

  it('leaves out what was replaced or deleted', async () => {
    await indexText(
      gateway,
      {
        partition: 'mail',
        fileId: 'chain-2',
        token: ada.token,
        method: 'PUT',
        metadata: '{"relationship_id":"thread"}',
      },
      ['Rewritten, and nobody’s child.'],
    );
    const documents = await ask('text=quince&top_k=1&include_ancestors=true');
    expect(documents.map(({ content }) => content)).toEqual([
      'Letter number quince.',
      'Rewritten, and nobody’s child.',
    ]);
    await gateway.call('DELETE', '/indexer/partition/mail/file/chain-2', { token: ada.token });
    expect(filesOf(await ask('text=quince&top_k=1&include_ancestors=true'))).toEqual(['chain-3']);
  });
});
