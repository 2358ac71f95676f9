import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import * as workflows from '../../workflows/index.js';
import { until } from '../support/until.js';
import { timeSkippingEnvironment, workflowBundle } from '../support/workflow-environment.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const TASK_QUEUE = 'summaries';

interface RecordedStart {
  workflowType: { name: string };
  input?: { payloads?: { data: string }[] };
}

/** What a recorded execution of each workflow was given. */
async function recordedStarts(): Promise<Map<string, unknown[]>> {
  const folder = `${root}test/histories`;
  const starts = new Map<string, unknown[]>();
  for (const name of await readdir(folder)) {
    const { events } = JSON.parse(await readFile(`${folder}/${name}`, 'utf8')) as {
      events: { workflowExecutionStartedEventAttributes?: RecordedStart }[];
    };
    const { workflowType, input } = events[0]!.workflowExecutionStartedEventAttributes!;
    const payloads = input?.payloads ?? [];
    starts.set(
      workflowType.name,
      payloads.map(({ data }): unknown => JSON.parse(Buffer.from(data, 'base64').toString('utf8'))),
    );
  }
  return starts;
}

/** The calls that start a workflow, each with its arguments. */
function startsIn(source: string): string[] {
  const opening =
    /\b(?:startChild|executeChild|workflow\.start|signalWithStart)(?:<[^()]*>)?\(|\{ type: 'startWorkflow'/g;
  return [...source.matchAll(opening)].map(({ index }) => {
    let depth = 0;
    for (let at = index; at < source.length; at += 1) {
      if ('({'.includes(source[at]!)) depth += 1;
      else if (')}'.includes(source[at]!)) {
        depth -= 1;
        if (depth === 0) return source.slice(index, at + 1);
      }
    }
    return source.slice(index);
  });
}

let env: TestWorkflowEnvironment;
let starts: Map<string, unknown[]>;
beforeAll(async () => {
  env = await timeSkippingEnvironment();
  starts = await recordedStarts();
}, 60_000);
afterAll(async () => {
  await env.teardown();
});

describe("what Temporal's UI says of a workflow", () => {
  it('every workflow says in plain words what it does, from its first moment', async () => {
    // None serves its activities: each stays where it begins.
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue: TASK_QUEUE,
      workflowBundle: await workflowBundle(),
    });
    const silent: string[] = [];
    await worker.runUntil(async () => {
      for (const type of Object.keys(workflows)) {
        const handle = await env.client.workflow.start(type, {
          workflowId: `summaries-${type}`,
          taskQueue: TASK_QUEUE,
          args: starts.get(type) ?? [],
        });
        const { currentDetails = '' } = await until(`${type} answers`, () =>
          handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata'),
        );
        if (!/[a-z]{2,}/.test(currentDetails)) silent.push(`${type}: ${currentDetails}`);
        await handle.terminate().catch(() => undefined);
      }
    });
    expect(silent).toEqual([]);
  }, 120_000);

  it('every start of a workflow names what it is about', async () => {
    const without: string[] = [];
    let seen = 0;
    for (const folder of ['workflows', 'workers', 'api'])
      for (const name of await readdir(`${root}${folder}`, { recursive: true })) {
        if (!name.endsWith('.ts')) continue;
        const calls = startsIn(await readFile(`${root}${folder}/${name}`, 'utf8'));
        seen += calls.length;
        for (const call of calls)
          if (!/staticSummary|\.\.\.(options|started)\b/.test(call))
            without.push(`${folder}/${name}: ${call.slice(0, 80)}`);
      }
    expect(without).toEqual([]);
    expect(seen).toBeGreaterThan(20);
  });
});
