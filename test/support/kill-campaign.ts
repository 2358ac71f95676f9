import type { Drift } from '../../activities/documents/clean-up/check-stores.js';
import type { Stage } from '../../schemas/documents/tasks.js';
import { documentClient } from './document-client.js';
import type { TaskStatus } from './document-client.js';
import { footprint } from './footprint.js';
import { generatedText } from './generated-text.js';
import { killAt, persist, sweptUp } from './kill-tools.js';
import type { Kill, Moment } from './kill-tools.js';
import type { RunningStack } from './running-stack.js';
import { until } from './until.js';

export interface CampaignReport {
  /** Wrong final states, missing or foreign chunks, a file seen half: empty when all went well. */
  faults: string[];
  /** Where the stores disagree once the scheduled sweep has had its time. */
  drifts: Drift[];
  kills: Kill[];
  tasks: number;
  /** Tasks whose work was taken up again after a kill. */
  retried: number;
  /** Times that a reader looked at a file while it was being replaced. */
  looks: number;
}

interface Step {
  do: 'POST' | 'PUT' | 'DELETE';
  /** Text to upload; each seed is a text of its own. */
  seed: number;
  paragraphs: number;
  /** When the next step comes: after this task's end, while the task publishes, or at once. */
  next: 'after' | 'publishing' | 'at once';
}

interface Plan {
  fileId: string;
  steps: Step[];
}

/** What is known of a file while it is acted on. */
interface Watched {
  plan: Plan;
  /** Seeds whose text may be visible now; null while the file may also be absent. */
  visible: Set<number> | null;
  /** Raised with each change of `visible`: an answer that crossed one is not checked. */
  turn: number;
}

interface Outcome {
  subject: string;
  url: string;
  expected: 'COMPLETED' | 'SUPERSEDED' | 'TASK_CANCELLED';
}

const PARTITION = { calm: 'calm', storm: 'storm' };
const BIG = 400;
const SMALL = 12;
/** Clients at once: few enough that new uploads arrive during the whole of the storm. */
const CLIENTS = 4;
const TIMEOUT_MS = 240_000;

/** Every kind of life that a file can have, in turn. */
function planOf(index: number): Plan {
  const step = (what: Step['do'], version: number, paragraphs: number, next: Step['next']): Step => ({
    do: what,
    seed: index * 10 + version,
    paragraphs,
    next,
  });
  const lives: Step[][] = [
    [step('POST', 0, BIG, 'after')],
    // Replaced while its first indexing runs.
    [step('POST', 0, BIG, 'at once'), step('PUT', 1, SMALL, 'after')],
    // A live version replaced: a long one by a short one, and the other way round.
    [step('POST', 0, BIG, 'after'), step('PUT', 1, SMALL, 'after')],
    [step('POST', 0, SMALL, 'after'), step('PUT', 1, BIG, 'after')],
    // Deleted, and another file under the same id.
    [step('POST', 0, SMALL, 'after'), step('DELETE', 0, 0, 'after'), step('POST', 1, SMALL, 'after')],
    // A replacement overtaken at the last moment: it must not come up for the time that its successor takes.
    [step('POST', 0, SMALL, 'after'), step('PUT', 1, SMALL, 'publishing'), step('PUT', 2, BIG, 'after')],
    // Deleted while its first indexing runs.
    [step('POST', 0, BIG, 'at once'), step('DELETE', 0, 0, 'after')],
  ];
  return { fileId: `file-${index}`, steps: lives[index % lives.length]! };
}

/**
 * Files are indexed, replaced and deleted while worker and gateway are killed with SIGKILL at chosen moments, and a
 * reader looks on. The same files, indexed without a disturbance in another partition, say what each must hold.
 */
export async function runKillCampaign(
  stack: RunningStack,
  size: { files: number; kills: number },
): Promise<CampaignReport> {
  const client = documentClient(stack);
  const plans = Array.from({ length: size.files }, (_, index) => planOf(index));
  const remaining = plans.filter((plan) => plan.steps.at(-1)!.do !== 'DELETE');

  const calm = await Promise.all(
    remaining.map(({ fileId, steps }) => {
      const { seed, paragraphs } = steps.at(-1)!;
      return client.upload('POST', PARTITION.calm, fileId, generatedText(seed, paragraphs), `${fileId}.txt`);
    }),
  );
  for (const url of calm) await client.ended(url);

  const report: CampaignReport = { faults: [], drifts: [], kills: [], tasks: 0, retried: 0, looks: 0 };
  const outcomes: Outcome[] = [];
  const watched = plans.map((plan): Watched => ({ plan, visible: null, turn: 0 }));
  let acting = true;
  await Promise.all([
    inTurn(watched, (file) => act(stack, file, outcomes, report.faults)).finally(() => (acting = false)),
    killing(stack, size.kills, report.kills),
    watching(stack, watched, report, () => acting),
  ]);

  for (const { subject, url, expected } of outcomes) {
    const { task_state, error, attempt } = await endedInStorm(stack, url);
    const ended = task_state === 'COMPLETED' ? 'COMPLETED' : (error?.code ?? task_state);
    // What runs when a replacement or a deletion comes may just have been completed.
    const cancelled = expected === 'TASK_CANCELLED' && task_state === 'CANCELLED';
    if (ended !== expected && !cancelled && !(ended === 'COMPLETED' && expected !== 'COMPLETED'))
      report.faults.push(`${subject} ended ${task_state} ${JSON.stringify(error)}, not ${expected}`);
    if (attempt > 1) report.retried += 1;
  }
  report.tasks = outcomes.length;
  report.drifts = await sweptUp(stack);
  for (const plan of plans) report.faults.push(...(await compare(stack, plan)));
  report.faults.push(...(await checkBytes(stack, 2 * remaining.length)), ...stack.crashes());
  return report;
}

/** Some at a time, each as soon as one before it is through. */
async function inTurn<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const one = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: CLIENTS }, one));
}

/** One client's doings on one file. A request without an answer is asked about again, never sent blindly. */
async function act(stack: RunningStack, file: Watched, outcomes: Outcome[], faults: string[]): Promise<void> {
  const { fileId, steps } = file.plan;
  const sees = (visible: Set<number> | null): void => {
    file.visible = visible;
    file.turn += 1;
  };
  let overtaken: { url: string; seed: number } | null = null;
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1];
    if (step.do === 'DELETE') {
      sees(null);
      await persist(() => remove(stack, fileId));
      const gone = await persist(() => stack.request(`/partition/${PARTITION.storm}/file/${fileId}`));
      if (gone.status !== 404) faults.push(`${fileId} was deleted and answers ${gone.status}`);
      continue;
    }
    // From before the request on: its answer may be lost and its work done.
    if (file.visible !== null) sees(new Set([...file.visible, step.seed]));
    const method = step.do;
    const text = generatedText(step.seed, step.paragraphs);
    let tries = 0;
    const url = await persist(() => {
      tries += 1;
      return admit(stack, method, fileId, text);
    });
    if (overtaken !== null && file.visible !== null && (await isCancelled(stack, overtaken.url)))
      sees(new Set([...file.visible].filter((seed) => seed !== overtaken?.seed)));
    // A try whose answer was lost may have made the same text visible: then the one that was answered proves nothing.
    overtaken = step.next === 'publishing' && url !== null && tries === 1 ? { url, seed: step.seed } : null;
    if (url !== null)
      outcomes.push({
        subject: `${fileId} step ${index}`,
        url,
        expected:
          step.next === 'after' || next === undefined
            ? 'COMPLETED'
            : next.do === 'PUT'
              ? 'SUPERSEDED'
              : 'TASK_CANCELLED',
      });
    if (step.next === 'publishing' && url !== null) await publishing(stack, url);
    if (step.next !== 'after') continue;
    if (url !== null) await endedInStorm(stack, url);
    sees(new Set([step.seed]));
  }
}

function taskOf(stack: RunningStack, url: string) {
  return stack.adapters.tasks.get(url.split('/').at(-1)!);
}

async function isCancelled(stack: RunningStack, url: string): Promise<boolean> {
  return (await taskOf(stack, url))?.state === 'CANCELLED';
}

function publishing(stack: RunningStack, url: string): Promise<boolean> {
  return until(
    `${url} is being published`,
    async () => {
      const task = await taskOf(stack, url);
      return task!.stage === 'publish' || task!.finished_at !== null;
    },
    { withinMs: TIMEOUT_MS, everyMs: 5 },
  );
}

async function remove(stack: RunningStack, fileId: string): Promise<void> {
  const { status } = await stack.request(`/indexer/partition/${PARTITION.storm}/file/${fileId}`, {
    method: 'DELETE',
  });
  if (status !== 204 && status !== 404) throw new Error(`DELETE answered ${status}`);
}

/** Answers the task's URL; null when an earlier try without an answer had been taken and has ended already. */
async function admit(
  stack: RunningStack,
  method: 'POST' | 'PUT',
  fileId: string,
  text: string,
): Promise<string | null> {
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
}

function endedInStorm(stack: RunningStack, url: string): Promise<TaskStatus> {
  return until(
    `${url} has ended`,
    async () => {
      const status = await persist(() => documentClient(stack).task(url));
      return ['COMPLETED', 'FAILED', 'CANCELLED'].includes(status.task_state) && status;
    },
    { withinMs: TIMEOUT_MS, everyMs: 100 },
  );
}

/** A reader: a live file is old, then new, never both, never neither. */
async function watching(
  stack: RunningStack,
  watched: readonly Watched[],
  report: CampaignReport,
  going: () => boolean,
): Promise<void> {
  while (going()) {
    for (const file of watched) {
      const { visible, turn, plan } = file;
      if (visible === null || visible.size < 2) continue;
      const path = `/search/partition/${PARTITION.storm}/file/${plan.fileId}?text=Document&top_k=50`;
      const seen = await stack
        .request(path)
        .then(async (response) => ({
          status: response.status,
          body: (await response.json()) as { documents?: { content: string }[] },
        }))
        .catch(() => null);
      if (seen === null || seen.status === 503 || file.turn !== turn) continue;
      report.looks += 1;
      const texts = (seen.body.documents ?? []).map(({ content }) => content).join('\n');
      const seeds = new Set([...texts.matchAll(/Document (\d+),/g)].map(([, seed]) => Number(seed)));
      if (seeds.size !== 1 || !visible.has([...seeds][0]!))
        report.faults.push(`${plan.fileId} showed ${[...seeds].join(' and ') || `nothing (${seen.status})`}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function inStage(stage: Stage, process: Moment['process'] = 'worker'): Moment {
  return {
    name: `stage ${stage}`,
    process,
    async reached({ adapters }) {
      for await (const task of adapters.tasks.scan())
        if (task.finished_at === null && task.stage === stage) return true;
      return false;
    },
  };
}

const MOMENTS: Moment[] = [
  inStage('embed'),
  inStage('parse'),
  {
    name: 'between admission and start',
    process: 'gateway',
    reached: async ({ adapters }) => (await adapters.tasks.listNotHandedOver(new Date(), 1)).length > 0,
  },
  inStage('publish'),
  inStage('chunk'),
  {
    name: 'in the middle of an upload',
    process: 'gateway',
    reached: async (stack) => ((await footprint(stack))['blobs.writes'] ?? 0) > 0,
  },
  {
    name: 'before a clean-up',
    process: 'worker',
    reached: async ({ adapters }) => (await adapters.tasks.listUncleaned(new Date(), 1)).length > 0,
  },
  inStage('queued'),
  inStage('embed', 'gateway'),
];

/** One kill after the other, at each moment in turn. */
async function killing(stack: RunningStack, count: number, kills: CampaignReport['kills']): Promise<void> {
  for (let kill = 0; kill < count; kill += 1)
    kills.push(await killAt(stack, MOMENTS[kill % MOMENTS.length]!));
}

async function seenBySearch(stack: RunningStack, plan: Plan): Promise<string> {
  const hits = await documentClient(stack).search(`/search/partition/${PARTITION.storm}`, {
    text: `Document ${plan.steps.at(-1)!.seed}, paragraph 1`,
    top_k: '200',
  });
  const own = hits.filter(({ metadata }) => metadata['file_id'] === plan.fileId);
  const seeds = own.flatMap(({ content }) =>
    [...content.matchAll(/Document (\d+),/g)].map(([, seed]) => seed),
  );
  return [...new Set(seeds)].join(' and ');
}

async function compare(stack: RunningStack, plan: Plan): Promise<string[]> {
  const file = await stack.adapters.files.get(PARTITION.storm, plan.fileId);
  const last = plan.steps.at(-1)!;
  const seen = await seenBySearch(stack, plan);
  if (last.do === 'DELETE')
    return file === null && seen === '' ? [] : [`${plan.fileId} was deleted and is there (${seen})`];
  if (file?.live == null) return [`${plan.fileId} is not live`];
  const faults = seen === String(last.seed) ? [] : [`a search found '${seen}' of ${plan.fileId}`];
  const calm = await stack.adapters.files.get(PARTITION.calm, plan.fileId);
  const [there, expected] = await Promise.all(
    [file, calm!].map(async (record) =>
      (await stack.adapters.chunks.listByFile(record.file_key, record.live!.generation)).map(
        (chunk) => `${chunk.position}:${chunk.text}`,
      ),
    ),
  );
  if (expected!.length === 0 || JSON.stringify(there) !== JSON.stringify(expected))
    faults.push(
      `${plan.fileId} has ${there!.length} chunks that are not the ${expected!.length} expected ones`,
    );
  return faults;
}

/** The bytes of every live file are there once, and nothing else, half-written or whole. */
async function checkBytes(stack: RunningStack, liveFiles: number): Promise<string[]> {
  const left = await footprint(stack);
  const found = { blobs: left['blobs.files'] ?? 0, unfinished: left['blobs.writes'] ?? 0 };
  if (found.blobs === liveFiles && found.unfinished === 0) return [];
  const named: string[] = [];
  for await (const { blobId, kind, taskId, createdAt } of stack.adapters.blobs.scan())
    named.push(`${kind} ${blobId} of ${taskId} at ${createdAt.toISOString()}`);
  return [
    `${found.blobs} blobs for ${liveFiles} live files, ${found.unfinished} of them unfinished`,
    ...named,
  ];
}
