import type { CountingCapi } from './counting-capi.js';
import { documentClient } from './document-client.js';
import { generatedText } from './generated-text.js';
import type { LaunchedStack } from './launched-stack.js';
import { sampleSignal, signalClient } from './signal-client.js';
import { until } from './until.js';

export interface EngineKillReport {
  /** Each engine that was killed, and after how many seconds both jobs answered again. */
  kills: { engine: string; backAfter: number }[];
  pushed: number;
  pushedAgain: number;
  uploaded: number;
  /** `refused`: how many, by status; `none` where no answer came. */
  chats: { answered: number; refused: Record<string, number> };
  faults: string[];
}

const WATCHERS = 4;
const BATCH = 20;
const BACK_WITHIN_MS = 180_000;

/**
 * Engines are killed with SIGKILL, one after the other, while watchers push, files are uploaded and questions are
 * asked. What was not answered is sent again, as clients do; what was answered must be there in the end, and arrive
 * once.
 */
export async function killEngines(
  stack: LaunchedStack,
  capi: CountingCapi,
  engines: readonly string[],
): Promise<EngineKillReport> {
  const report: EngineKillReport = {
    kills: [],
    pushed: 0,
    pushedAgain: 0,
    uploaded: 0,
    chats: { answered: 0, refused: {} },
    faults: [],
  };
  const { gateway: base, auth_token: token, dashboard_key: key } = stack.endpoints();
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(new URL(path, base!), {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
    });
  const documents = documentClient({ request });
  let acting = true;

  const pushing = async (index: number): Promise<void> => {
    const client = signalClient(base!, `killwatcher${index}`);
    await client.login();
    for (let number = 0; acting; number += BATCH) {
      // The same bytes until they are answered: an identity that is stored already is not stored twice.
      const batch = Array.from({ length: BATCH }, (_, item) =>
        sampleSignal(number + item, { uuid: `killwatcher${index}-${number + item}` }),
      );
      for (;;) {
        const response = await client.push(batch).catch(() => null);
        await response?.arrayBuffer().catch(() => null);
        if (response?.status === 200) break;
        report.pushedAgain += 1;
        if (response?.status === 401) await client.login().catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      report.pushed += BATCH;
    }
  };

  const tasks = new Map<string, string>();
  const uploading = async (): Promise<void> => {
    for (let number = 0; acting; number += 1) {
      const fileId = `file-${number}`;
      for (;;) {
        const response = await documents
          .send('POST', 'kills', fileId, generatedText(number, 8), `${fileId}.txt`)
          .catch(() => null);
        const body = (await response?.json().catch(() => null)) as { task_status_url?: string } | null;
        if (body?.task_status_url !== undefined) {
          tasks.set(fileId, body.task_status_url);
          report.uploaded += 1;
          break;
        }
        // It was taken, and the answer was lost with the engine: 409 says so.
        if (response?.status === 409) break;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };

  const chatting = async (): Promise<void> => {
    while (acting) {
      const response = await request('/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'rag-kills',
          messages: [{ role: 'user', content: 'What is said of word 7?' }],
        }),
      }).catch(() => null);
      const body = (await response?.json().catch(() => null)) as { choices?: unknown[] } | null;
      if (response?.status === 200 && body?.choices !== undefined) report.chats.answered += 1;
      else {
        const status = String(response?.status ?? 'none');
        report.chats.refused[status] = (report.chats.refused[status] ?? 0) + 1;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };

  const killing = async (): Promise<void> => {
    for (const engine of engines) {
      // Something of each kind has gone through since the last one came back.
      const [pushed, uploaded, answered] = [report.pushed, report.uploaded, report.chats.answered];
      await until(
        'pushes, uploads and chats go on',
        async () => report.pushed > pushed && report.uploaded > uploaded && report.chats.answered > answered,
        { withinMs: BACK_WITHIN_MS },
      );
      const pid = stack.endpoints().pids[engine];
      if (pid === undefined) throw new Error(`no process is known of ${engine}`);
      process.kill(pid, 'SIGKILL');
      const from = performance.now();
      const [pushedThen, uploadedThen] = [report.pushed, report.uploaded];
      await until(
        `${engine} is back`,
        async () => {
          const next = stack.endpoints().pids[engine];
          if (next === undefined || next === pid) return false;
          return report.pushed > pushedThen + BATCH && report.uploaded > uploadedThen + 1;
        },
        { withinMs: BACK_WITHIN_MS },
      );
      report.kills.push({ engine, backAfter: Math.round((performance.now() - from) / 100) / 10 });
    }
  };

  await Promise.all([
    killing().finally(() => (acting = false)),
    ...Array.from({ length: WATCHERS }, (_, index) => pushing(index)),
    uploading(),
    chatting(),
  ]);

  for (const [fileId, url] of tasks) {
    const { task_state, error } = await documents.ended(url, 300_000);
    if (task_state !== 'COMPLETED')
      report.faults.push(`${fileId} ended ${task_state} ${JSON.stringify(error)}`);
  }
  const stats = async (): Promise<{ total: number; forwarded: number }> =>
    (await (await fetch(`${base!}/api/stats`, { headers: { 'x-api-key': key } })).json()) as {
      total: number;
      forwarded: number;
    };
  await until('CAPI has everything', async () => capi.received() >= report.pushed, { withinMs: 300_000 });
  await until('everything is marked', async () => (await stats()).forwarded === report.pushed, {
    withinMs: 120_000,
  }).catch(async () => report.faults.push(`marked as forwarded: ${JSON.stringify(await stats())}`));
  if ((await stats()).total !== report.pushed) report.faults.push(`stored: ${JSON.stringify(await stats())}`);
  if (capi.received() !== report.pushed)
    report.faults.push(`CAPI has ${capi.received()} of ${report.pushed}`);
  report.faults.push(...capi.faults());
  return report;
}
