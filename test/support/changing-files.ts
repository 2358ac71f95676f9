import { askStack } from './ask-stack.js';
import { documentClient } from './document-client.js';
import type { CampaignClient } from './gateway-kills.js';
import { generatedText } from './generated-text.js';
import { seededRandom } from './seeded-random.js';

const FILES = 6;
const PARAGRAPHS = 6;

interface Uploaded {
  task_status_url?: string;
  extra?: { task_status_url?: string };
}

/**
 * Files of a partition that come, are replaced, get other metadata and go, one request after the other, and what must
 * be there in the end. Client faults go into a list.
 * @param options.name that their ids begin with: another one where files of a former load may be left
 */
export function changingFiles(
  client: CampaignClient,
  { partition, faults, name = 'changing' }: { partition: string; faults: string[]; name?: string },
) {
  const documents = documentClient(client);
  const random = seededRandom(13);
  /** Which text a file has; null: it was deleted. */
  const expected = new Map<string, number | null>();
  let count = 0;
  const pathOf = (fileId: string) => `/indexer/partition/${partition}/file/${fileId}`;

  const send = async (what: string, work: () => Promise<Response>, allowed: readonly number[]) => {
    const before = client.repeated();
    const response = await work();
    // The request before, whose answer was lost with the gateway, was obeyed.
    const again = client.repeated() > before ? [404, 409] : [];
    const text = await response.text();
    if (![...allowed, ...again].includes(response.status))
      faults.push(`${what} answered ${response.status} ${text.slice(0, 300)}`);
    return (text === '' ? {} : JSON.parse(text)) as Uploaded;
  };

  const remove = (fileId: string) =>
    send('a deletion', () => client.request(pathOf(fileId), { method: 'DELETE' }), [204]);

  return {
    /** The changes so far. */
    count: () => count,
    async change(): Promise<void> {
      const fileId = `${name}-${Math.floor(random() * FILES)}`;
      const isThere = (expected.get(fileId) ?? null) !== null;
      const kind = random();
      count += 1;
      if (isThere && kind < 0.35) {
        await remove(fileId);
        expected.set(fileId, null);
        return;
      }
      if (isThere && kind < 0.55) {
        const body = new FormData();
        body.set('metadata', JSON.stringify({ turn: count }));
        await send('new metadata', () => client.request(pathOf(fileId), { method: 'PATCH', body }), [200]);
        return;
      }
      const number = 10_000 + count;
      const text = generatedText(number, PARAGRAPHS);
      const method = isThere ? 'PUT' : 'POST';
      const body = await send(
        'an upload',
        () => documents.send(method, partition, fileId, text, `${fileId}.txt`),
        [201, 202],
      );
      expected.set(fileId, number);
      const url = body.task_status_url ?? body.extra?.task_status_url;
      // None is named when an earlier try has been taken and has ended.
      if (url === undefined) return;
      const { task_state: state, error } = await documents.ended(url, 300_000);
      if (state !== 'COMPLETED') faults.push(`a task ended ${state}: ${JSON.stringify(error)}`);
    },
    /** Each file as its last change left it: its whole text, and none of another one. */
    async verify(): Promise<void> {
      for (const [fileId, number] of expected) {
        const { status } = await askStack(client, 'GET', `/partition/${partition}/file/${fileId}`);
        if (status !== (number === null ? 404 : 200)) faults.push(`${fileId} answers ${status}`);
        if (number === null || status !== 200) continue;
        const found = await documents.search(`/search/partition/${partition}/file/${fileId}`, {
          text: `Document ${number}`,
          top_k: '50',
        });
        const texts = found.map(({ content }) => content).join('\n');
        const seen = [...new Set(texts.match(/Document \d+, paragraph \d+:/g))].sort();
        const whole = Array.from({ length: PARAGRAPHS }, (_, at) => `Document ${number}, paragraph ${at}:`);
        if (seen.join() !== whole.join()) faults.push(`${fileId} holds ${seen.join()}`);
      }
    },
    /** Deletes what is left of them, so that the partition is what it was before. */
    async clear(): Promise<void> {
      for (const [fileId, number] of expected) if (number !== null) await remove(fileId);
      expected.clear();
    },
  };
}

/** One question to a partition as to a model; what is wrong with the answer, or null. */
export async function chatFault(
  client: Pick<CampaignClient, 'request'>,
  partition: string,
  question: string,
): Promise<string | null> {
  const { status, body } = await askStack<{ choices?: { message: { content: string } }[] }>(
    client,
    'POST',
    '/v1/chat/completions',
    { model: `rag-${partition}`, messages: [{ role: 'user', content: question }] },
  );
  const content = body.choices?.[0]?.message.content ?? '';
  return status === 200 && content !== ''
    ? null
    : `a chat answered ${status} ${JSON.stringify(body).slice(0, 300)}`;
}
