import { checkStores } from '../../activities/reconcile/check-stores.js';
import type { Drift } from '../../activities/reconcile/check-stores.js';
import type { Stage } from '../../schemas/documents.js';
import { documentClient } from './document-client.js';
import { generatedText } from './generated-text.js';
import type { RunningStack } from './running-stack.js';
import { until } from './until.js';

export interface CampaignReport {
  /** Wrong final states, missing or foreign chunks: empty when all went well. */
  faults: string[];
  drifts: Drift[];
  kills: { process: 'worker' | 'gateway'; seen: string }[];
  tasks: number;
}

interface Plan {
  fileId: string;
  texts: string[];
  deleted: boolean;
}

const PARTITION = { calm: 'calm', storm: 'storm' };

/**
 * Files are indexed, replaced and deleted while worker and gateway are killed with SIGKILL at chosen stages. The
 * same files, indexed without a disturbance in another partition, say what each must hold in the end.
 */
export const runKillCampaign = async (
  stack: RunningStack,
  size: { files: number; kills: number },
): Promise<CampaignReport> => {
  const client = documentClient(stack);
  const plans = Array.from({ length: size.files }, (_, index): Plan => {
    const paragraphs = index % 4 === 0 ? 400 : 12;
    const versions = index % 3 === 1 ? 2 : 1;
    return {
      fileId: `file-${index}`,
      texts: Array.from({ length: versions }, (_none, version) =>
        generatedText(index * 10 + version, paragraphs),
      ),
      deleted: index % 5 === 4,
    };
  });

  const calm = await Promise.all(
    plans.map((plan) =>
      client.upload('POST', PARTITION.calm, plan.fileId, plan.texts.at(-1)!, `${plan.fileId}.txt`),
    ),
  );
  for (const url of calm) await client.ended(url);

  const kills: CampaignReport['kills'] = [];
  const urls = new Map<string, string>();
  let stop = false;
  const storming = killing(stack, size.kills, kills, () => stop);
  const acting = Promise.all(plans.map((plan) => act(stack, plan, urls)));
  await acting;
  await storming;
  stop = true;

  const faults: string[] = [];
  for (const [subject, url] of urls) {
    const status = await client.ended(url, 240_000);
    const expected = subject.endsWith('last')
      ? ['COMPLETED']
      : subject.endsWith('deleted')
        ? ['COMPLETED', 'CANCELLED']
        : ['COMPLETED', 'CANCELLED'];
    if (!expected.includes(status.task_state))
      faults.push(`${subject} ended ${status.task_state} ${JSON.stringify(status.error)}`);
  }
  const drifts = await settled(stack);
  for (const plan of plans) faults.push(...(await compare(stack, plan)));
  return { faults, drifts, kills, tasks: urls.size };
};

/** One client's doings on one file. A request without an answer is asked about again, never sent blindly. */
const act = async (stack: RunningStack, plan: Plan, urls: Map<string, string>): Promise<void> => {
  for (const [version, text] of plan.texts.entries()) {
    const last = version === plan.texts.length - 1 && !plan.deleted;
    const url = await persist(() => admit(stack, version === 0 ? 'POST' : 'PUT', plan.fileId, text));
    if (url !== null) urls.set(`${plan.fileId} version ${version} ${last ? 'last' : 'deleted'}`, url);
  }
  if (plan.deleted)
    await persist(async () => {
      const { status } = await stack.request(`/indexer/partition/${PARTITION.storm}/file/${plan.fileId}`, {
        method: 'DELETE',
      });
      if (status !== 204 && status !== 404) throw new Error(`DELETE answered ${status}`);
    });
};

/** Answers the task's URL; null when an earlier try without an answer had been taken and has ended already. */
const admit = async (
  stack: RunningStack,
  method: 'POST' | 'PUT',
  fileId: string,
  text: string,
): Promise<string | null> => {
  const response = await documentClient(stack).send(method, PARTITION.storm, fileId, text, `${fileId}.txt`);
  const body = (await response.json()) as {
    task_status_url?: string;
    detail?: string;
    extra?: { task_status_url?: string };
  };
  if (response.status === 201 || response.status === 202) return body.task_status_url!;
  if (response.status === 409 && body.extra?.task_status_url !== undefined) return body.extra.task_status_url;
  if (response.status === 409 && body.detail?.includes('already exists')) return null;
  throw new Error(`${method} answered ${response.status} ${JSON.stringify(body)}`);
};

/** The gateway is away for seconds at a time: whoever got no answer asks again. */
const persist = async <T>(action: () => Promise<T>): Promise<T> => {
  let result: { value: T } | undefined;
  let failure: unknown;
  await until(
    'the gateway takes the request',
    async () => {
      try {
        result = { value: await action() };
        return true;
      } catch (error) {
        failure = error;
        return false;
      }
    },
    { withinMs: 120_000, everyMs: 300 },
  ).catch(() => {
    throw failure;
  });
  return result!.value;
};

const STAGES: Stage[] = ['parse', 'embed', 'publish', 'chunk', 'queued'];

/** Kills the worker when a task is seen in the wanted stage, and every third time the gateway. */
const killing = async (
  stack: RunningStack,
  count: number,
  kills: CampaignReport['kills'],
  stopped: () => boolean,
): Promise<void> => {
  for (let kill = 0; kill < count && !stopped(); kill += 1) {
    const wanted = STAGES[kill % STAGES.length]!;
    const seen = await until(
      `a task in stage ${wanted}`,
      async () => {
        for await (const task of stack.adapters.tasks.scan())
          if (task.finished_at === null && task.stage === wanted) return `stage ${wanted}`;
        return false;
      },
      { withinMs: 8000, everyMs: 5 },
    ).catch(() => `any stage (none in ${wanted} within 8 s)`);
    if (kill % 3 === 2) {
      await stack.killGateway();
      kills.push({ process: 'gateway', seen });
      await stack.startGateway();
    } else {
      await stack.killWorker();
      kills.push({ process: 'worker', seen });
      await stack.startWorker();
    }
  }
};

/** What a crash left is swept up by itself; the reconciler does hourly what is asked for here at once. */
const settled = async (stack: RunningStack): Promise<Drift[]> => {
  let drifts: Drift[] = [];
  await until(
    'the stores agree',
    async () => {
      await stack.sweep();
      await stack.reconcile();
      drifts = await checkStores(stack.adapters, { deduplicate: true });
      return drifts.length === 0;
    },
    { withinMs: 60_000, everyMs: 1000 },
  ).catch(() => undefined);
  return drifts;
};

const compare = async (stack: RunningStack, plan: Plan): Promise<string[]> => {
  const file = await stack.adapters.files.get(PARTITION.storm, plan.fileId);
  if (plan.deleted) return file?.live == null ? [] : [`${plan.fileId} was deleted and is live`];
  if (file?.live == null) return [`${plan.fileId} is not live`];
  const calm = await stack.adapters.files.get(PARTITION.calm, plan.fileId);
  const [there, expected] = await Promise.all(
    [file, calm!].map(async (record) =>
      (await stack.adapters.chunks.listByFile(record.file_key, record.live!.generation)).map(
        (chunk) => `${chunk.position}:${chunk.text}`,
      ),
    ),
  );
  return JSON.stringify(there) === JSON.stringify(expected)
    ? []
    : [`${plan.fileId} has ${there!.length} chunks that are not the ${expected!.length} expected ones`];
};
