import { createCountingCapi } from './counting-capi.js';
import { documentClient } from './document-client.js';
import { generatedText } from './generated-text.js';
import { persist } from './kill-tools.js';
import { openStack } from './running-stack.js';
import type { RunningStack } from './running-stack.js';
import { runTamis } from './run-tamis.js';
import type { Ran } from './run-tamis.js';
import { sampleSignal, signalClient } from './signal-client.js';
import { until } from './until.js';
import { makePartition } from './upload-texts.js';

const PARTITION = 'library';
const WATCHER = 'backupwatcher';
const PUSHED_AT_ONCE = 100;
const UPLOADS_AT_ONCE = 8;
const KEY = 'key-of-the-management-side-0123456789';
const QUESTIONS = [
  'sluice pond wheel',
  'Document 7, paragraph 1',
  'harbour lamp keeper',
  'eel berth quay moth',
];

export interface BackupCampaign {
  files: number;
  paragraphs: number;
  alerts: number;
  /** Where backups go: a folder. */
  location: string;
  secretsKey: string;
}

export interface BackupReport {
  /** Broken promises: empty when all went well. */
  faults: string[];
  backupSeconds: number;
  restoreSeconds: number;
  backupBytes: number;
  questions: number;
  /** Signals that CAPI had when the backup was made, that waited then, and that came after the restore unasked. */
  sent: number;
  held: number;
  sentAgain: number;
}

interface Saved {
  answers: unknown[];
  files: { id: string; digest: string; chunks: number }[];
  alerts: string;
  statistics: string;
}

/**
 * Files and alerts are stored, a backup is made while the worker is killed once, everything is removed, and a new
 * stack restores it while its worker is killed once. Both are then asked the same.
 */
export async function backUpWipeAndRestore(campaign: BackupCampaign): Promise<BackupReport> {
  const { secretsKey, location } = campaign;
  const faults: string[] = [];
  const capi = await createCountingCapi(() => false);
  const variables = {
    SECRETS_KEY: secretsKey,
    BACKUP_LOCATION: location,
    CAPI_URL: capi.url,
    MAX_QUEUED_TASKS_PER_USER: '100000',
    DASHBOARD_API_KEY: KEY,
  };
  try {
    let stack = await openStack(variables);
    let saved: Saved;
    let backupId: string;
    let backupSeconds: number;
    let backupBytes: number;
    const waiting = Math.floor(campaign.alerts / 2);
    const pushed = campaign.alerts - waiting;
    try {
      await Promise.all([stack.startGateway(), stack.startWorker()]);
      await fill(stack, campaign);
      const lapi = signalClient(stack.base, WATCHER);
      await lapi.login();
      await push(lapi, 0, pushed);
      await until('CAPI has what was pushed', async () => capi.received() >= pushed, { withinMs: 600_000 });
      // The rest waits: nobody sends it any more.
      await steer(stack, 'pause');
      await push(lapi, pushed, waiting);
      const began = Date.now();
      const ran = tamis(stack, ['backup', 'run', '--watch', '--json']);
      await killOnce(stack, 'backup');
      const { state, ...rest } = lastState(await ran, faults);
      if (state !== 'completed') faults.push(`the backup ended ${state}: ${JSON.stringify(rest)}`);
      backupSeconds = (Date.now() - began) / 1000;
      ({ backupId, backupBytes } = await newestBackup(stack));
      saved = await look(stack, campaign);
    } finally {
      await stack.close();
    }

    const sent = capi.received();
    stack = await openStack(variables);
    try {
      await Promise.all([stack.startGateway(), stack.startWorker()]);
      const began = Date.now();
      const ran = tamis(stack, ['restore', backupId, '--watch', '--json']);
      await killOnce(stack, 'restore');
      const { state, ...rest } = lastState(await ran, faults);
      if (state !== 'completed') faults.push(`the restore ended ${state}: ${JSON.stringify(rest)}`);
      const restoreSeconds = (Date.now() - began) / 1000;
      compare(saved, await look(stack, campaign), faults);
      await stack.reconcile();
      compare(saved, await look(stack, campaign), faults);
      const kept = await stack.adapters.proxy!.alerts.keptBack();
      const held = kept.find(({ watcher }) => watcher === WATCHER)?.deferred ?? 0;
      // The queue goes on with what is new, and with nothing else.
      await steer(stack, 'resume');
      const lapi = signalClient(stack.base, WATCHER);
      await lapi.login();
      await push(lapi, campaign.alerts, 1);
      await until('CAPI has what is new', async () => capi.received() > sent, { withinMs: 120_000 });
      const again = await tamis(stack, ['restore', backupId, '--json']);
      if (again.code === 0 || !again.err.includes('hold records already'))
        faults.push(`a restore into what is not empty answered ${again.code}: ${again.err}`);
      return {
        faults,
        backupSeconds,
        restoreSeconds,
        backupBytes,
        questions: saved.answers.length,
        sent,
        held,
        sentAgain: capi.received() - sent - 1,
      };
    } finally {
      await stack.close();
    }
  } finally {
    await capi.close();
  }
}

async function steer(stack: RunningStack, word: 'pause' | 'resume'): Promise<void> {
  const headers = { 'x-api-key': KEY };
  const response = await stack.request(`/api/forwarding/${WATCHER}/${word}`, { method: 'POST', headers });
  if (!response.ok) throw new Error(`${word} answered ${response.status}`);
}

async function fill(stack: RunningStack, { files, paragraphs }: BackupCampaign): Promise<void> {
  await makePartition(stack, PARTITION);
  const documents = documentClient(stack);
  const tasks: string[] = [];
  let next = 0;
  const uploading = async (): Promise<void> => {
    while (next < files) {
      const file = next;
      next += 1;
      const text = generatedText(file, paragraphs);
      tasks.push(
        await persist(() => documents.upload('POST', PARTITION, `file-${file}`, text, `file-${file}.txt`)),
      );
    }
  };
  await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, uploading));
  for (const task of tasks) {
    const { task_state: state, error } = await documents.ended(task, 3_600_000);
    if (state !== 'COMPLETED') throw new Error(`${task} ended ${state}: ${JSON.stringify(error)}`);
  }
}

async function push(lapi: ReturnType<typeof signalClient>, first: number, count: number): Promise<void> {
  for (let from = first; from < first + count; from += PUSHED_AT_ONCE) {
    const size = Math.min(PUSHED_AT_ONCE, first + count - from);
    const signals = Array.from({ length: size }, (_, index) => sampleSignal(from + index));
    const response = await lapi.push(signals);
    if (response.status !== 200) throw new Error(`a push answered ${response.status}`);
  }
}

function tamis(stack: RunningStack, args: string[]): Promise<Ran> {
  return runTamis(args, { env: { TAMIS_URL: stack.base, TAMIS_TOKEN: stack.token } });
}

/** The worker, while a run of this kind is at work. A run may be too quick for it on a small amount. */
async function killOnce(stack: RunningStack, kind: 'backup' | 'restore'): Promise<void> {
  await until(
    `the ${kind} is at work`,
    async () => {
      const [latest] = await stack.adapters.backups.runs.list(1);
      return latest?.kind === kind;
    },
    { withinMs: 60_000, everyMs: 20 },
  );
  await stack.killWorker();
  await stack.startWorker();
}

function lastState({ code, out, err }: Ran, faults: string[]): { state: string } {
  if (code !== 0) faults.push(`the command line ended ${code}: ${err.slice(0, 500)}`);
  const lines = out.trim().split('\n');
  return JSON.parse(lines.at(-1) || '{"state":"unknown"}') as { state: string };
}

async function newestBackup(stack: RunningStack): Promise<{ backupId: string; backupBytes: number }> {
  const body = (await (await stack.request('/admin/backups')).json()) as {
    backups: { backup_id: string; bytes: number }[];
  };
  return { backupId: body.backups[0]!.backup_id, backupBytes: body.backups[0]!.bytes };
}

/** What both stacks are asked. */
async function look(stack: RunningStack, { files }: BackupCampaign): Promise<Saved> {
  const answers: unknown[] = [];
  for (const text of QUESTIONS) {
    const query = new URLSearchParams({ text, top_k: '20' }).toString();
    const response = await stack.request(`/search/partition/${PARTITION}?${query}`);
    const body = (await response.json()) as { documents: object[] };
    // Links name the port of the gateway.
    answers.push(JSON.parse(JSON.stringify(body).replaceAll(stack.base, '')));
  }
  const found: Saved['files'] = [];
  const { partition_key: key } = (await stack.adapters.partitions.get(PARTITION))!;
  const pending = await stack.adapters.files.listPending(key);
  if (pending.length > 0) throw new Error(`${pending.length} files are not indexed yet`);
  for (let after: string | null = null; found.length < files;) {
    const page = await stack.adapters.files.pageLive(PARTITION, { after, limit: 500 });
    if (page.length === 0) break;
    for (const { file_id: id, live } of page)
      found.push({ id, digest: live!.content_sha256, chunks: live!.chunk_count });
    after = page.at(-1)!.file_id;
  }
  const alerts: string[] = [];
  for await (const { id, message, filtered, forwardedToCapi } of stack.proxy.everyAlert())
    alerts.push(`${id} ${message} ${filtered} ${forwardedToCapi}`);
  const hours = await stack.adapters.proxy!.statistics.read(null);
  return { answers, files: found, alerts: alerts.join('\n'), statistics: JSON.stringify(hours) };
}

function compare(saved: Saved, restored: Saved, faults: string[]): void {
  for (const part of ['answers', 'files', 'alerts', 'statistics'] as const) {
    const [one, other] = [JSON.stringify(saved[part]), JSON.stringify(restored[part])];
    if (one === other) continue;
    const at = [...one].findIndex((letter, place) => letter !== other[place]);
    faults.push(
      `the ${part} differ: ${one.slice(Math.max(0, at - 80), at + 120)} | ${other.slice(Math.max(0, at - 80), at + 120)}`,
    );
  }
}
