/** Evaluation runs as the gateway tells them. */
import { setTimeout } from 'node:timers/promises';
import type { Context } from './context.js';
import { watch } from './watch.js';

export interface Figure {
  mean: number;
  low: number;
  high: number;
  count: number;
}

/** What is read of the answers here; the gateway answers more. */
export interface EvaluationRun {
  run_id: string;
  set: string;
  version: number;
  label: string | null;
  settings: { chat: boolean; preset: string | null };
  status: 'running' | 'completed' | 'failed' | 'cancelled';
  questions_total: number;
  questions_done: number;
  summary: {
    failed: number;
    measures: Record<string, Figure>;
    search: { p50: number; p95: number } | null;
    chat: { p50: number; p95: number } | null;
  } | null;
  error: string | null;
  started_at: string;
}

const LOOK_MS = 1_000;

export function pathOf(partition: string, rest = ''): string {
  return `/evaluation/partition/${encodeURIComponent(partition)}${rest}`;
}

export function runPath(partition: string, runId: string): string {
  return pathOf(partition, `/runs/${encodeURIComponent(runId)}`);
}

export function interval({ low, high }: Figure): string {
  return `${low.toFixed(3)} to ${high.toFixed(3)}`;
}

/** With its sign, to three places. */
export function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(3)}`;
}

/** Shows progress of a run until it ends; Ctrl-C leaves it running. */
export async function watchRun(context: Context, partition: string, runId: string): Promise<EvaluationRun> {
  const gateway = context.gateway();
  return watch<EvaluationRun>(context, {
    howToComeBack: `The run goes on. Watch it again: tamis eval watch ${partition}`,
    async *states() {
      for (;;) {
        yield await gateway.ask<EvaluationRun>('GET', runPath(partition, runId));
        await setTimeout(LOOK_MS, undefined, { signal: context.signal });
      }
    },
    isFinal: ({ status }) => status !== 'running',
    progressOf: ({ questions_done: done, questions_total: total, set }) => ({
      phase: `questions of ${set}`,
      done,
      total,
      unit: 'questions',
    }),
  });
}
