import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { until } from '../../../support/until.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, uploadForm } from '../../support/uploads.js';

let gateway: Gateway;
let early: { token: string; userId: number };
let owner: { token: string; userId: number };
beforeEach(async () => {
  gateway = await startGateway();
  [early, owner] = [gateway.addUser('early'), gateway.addUser('owner')];
});
afterEach(() => gateway.close());

function copyForm(): FormData {
  const form = new FormData();
  form.set('source_partition', 'mine');
  form.set('source_file_id', 'a1');
  return form;
}

function metadataForm(): FormData {
  const form = new FormData();
  form.set('metadata', '{"shelf":"z"}');
  return form;
}

/** Sends all of a body but its end, and that when `meanwhile` is done, which begins once the request was looked at. */
async function sendSlowly(
  method: string,
  path: string,
  body: FormData | object,
  meanwhile: () => Promise<unknown>,
): Promise<[number, unknown]> {
  const whole =
    body instanceof FormData
      ? new Response(body)
      : new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
  const type = whole.headers.get('content-type')!;
  const bytes = Buffer.from(await whole.arrayBuffer());
  const { partitions, files } = gateway.adapters;
  const looks = [jest.spyOn(partitions, 'get'), jest.spyOn(files, 'get')];
  const answered = new Promise<[number, unknown]>((resolve, reject) => {
    const sent = request(
      `${gateway.url}${path}`,
      {
        method,
        headers: {
          authorization: `Bearer ${early.token}`,
          'content-type': type,
          'content-length': bytes.length,
        },
      },
      (response) => void json(response).then((answer) => resolve([response.statusCode ?? 0, answer]), reject),
    );
    sent.once('error', reject);
    sent.write(bytes.subarray(0, -8));
    void until('it was looked at', async () => looks.some(({ mock }) => mock.calls.length > 0))
      .then(meanwhile)
      .then(() => sent.end(bytes.subarray(-8)), reject);
  });
  return answered.finally(() => looks.forEach((look) => look.mockRestore()));
}

async function ownerMakes(): Promise<void> {
  expect((await gateway.call('POST', '/partition/hr', { token: owner.token })).status).toBe(201);
}

async function seenByOwner(path: string): Promise<unknown> {
  return (await gateway.call('GET', path, { token: owner.token })).json();
}

const FORBIDDEN = [403, { detail: "Access to partition 'hr' forbidden" }];

describe('a partition that somebody else makes while a request of others comes', () => {
  beforeEach(() => indexText(gateway, { partition: 'mine', fileId: 'a1', token: early.token }, ['one']));

  it.each<[string, string, string, FormData | object]>([
    ['upload', 'POST', '/indexer/partition/hr/file/x', uploadForm('planted')],
    ['copy', 'POST', '/indexer/partition/hr/file/x/copy', copyForm()],
    ['workspace', 'POST', '/partition/hr/workspaces', { workspace_id: 'planted' }],
    [
      'question set',
      'POST',
      '/evaluation/partition/hr/question-sets/planted',
      { format: 'jsonl', content: '{"question":"Who?"}' },
    ],
  ])('takes no %s of them', async (_what, method, path, body) => {
    expect(await sendSlowly(method, path, body, ownerMakes)).toEqual(FORBIDDEN);
    expect(await seenByOwner('/partition/hr')).toMatchObject({ files: [] });
    expect(await seenByOwner('/partition/hr/workspaces')).toEqual({ workspaces: [] });
    expect(await seenByOwner('/evaluation/partition/hr/question-sets')).toEqual({ question_sets: [] });
    expect(await gateway.adapters.files.get('hr', 'x')).toBeNull();
  });

  it('takes their upload where they make it themselves, and where they are let in', async () => {
    const makes = async () => {
      await gateway.call('POST', '/partition/hr', { token: early.token });
    };
    const path = '/indexer/partition/hr/file/x';
    expect((await sendSlowly('POST', path, uploadForm('mine'), makes))[0]).toBe(201);
    const letsIn = async () => {
      await gateway.call('POST', '/partition/ours', { token: owner.token });
      gateway.addMember(early.userId, 'ours', 'editor');
    };
    const shared = '/indexer/partition/ours/file/x';
    expect((await sendSlowly('POST', shared, uploadForm('ours'), letsIn))[0]).toBe(201);
  });
});

describe('a partition that is deleted and made anew by somebody else while a request of its former owner comes', () => {
  it('keeps the metadata of its file', async () => {
    await indexText(gateway, { partition: 'hr', fileId: 'x', token: early.token }, ['one']);
    const changesHands = async () => {
      expect((await gateway.call('DELETE', '/partition/hr', { token: early.token })).status).toBe(204);
      await indexText(gateway, { partition: 'hr', fileId: 'x', token: owner.token }, ['two']);
    };
    const answer = await sendSlowly('PATCH', '/indexer/partition/hr/file/x', metadataForm(), changesHands);
    expect(answer).toEqual(FORBIDDEN);
    expect((await gateway.adapters.files.get('hr', 'x'))?.live?.metadata).not.toHaveProperty('shelf');
  });
});

describe('a partition that is deleted while a replacement of a file in it comes', () => {
  it('is not made anew', async () => {
    await indexText(gateway, { partition: 'hr', fileId: 'x', token: owner.token }, ['one']);
    gateway.addMember(early.userId, 'hr', 'editor');
    const deleted = async () => {
      expect((await gateway.call('DELETE', '/partition/hr', { token: owner.token })).status).toBe(204);
    };
    const answer = await sendSlowly('PUT', '/indexer/partition/hr/file/x', uploadForm('two'), async () => {
      await deleted();
      // So long ago that the partition is looked up again.
      const now = performance.now() + 2000;
      jest.spyOn(performance, 'now').mockImplementation(() => now);
    }).finally(() => jest.restoreAllMocks());
    expect(answer[0]).toBe(404);
    expect(await gateway.adapters.partitions.get('hr')).toBeNull();
  });
});
