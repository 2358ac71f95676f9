/**
 * What both processes count. No argument may hold the name of a partition, user, file or watcher, or an address: each
 * becomes a label that every scraper reads, and a series of its own.
 */
import type { Stage, TaskState } from '../../schemas/documents/tasks.js';

export type BreakerState = 'closed' | 'half-open' | 'open';

/** One exchange with a model server. */
export interface ModelCall {
  /** The server's dialect, or `client_override` where a client chose the model. */
  provider: string;
  operation: 'chat' | 'embedding' | 'reranking' | 'transcription';
  /** `ok`, `cancelled`, or the kind of the failure. */
  outcome: string;
  seconds: number;
  /** Of the request that it was made for; no label. */
  requestId: string | undefined;
  /** That it is part of, as `traceparent`; no label. */
  span: string | undefined;
}

/** One call to an engine. */
export interface EngineCall {
  engine: 'mongodb' | 'opensearch' | 'temporal';
  /** One of a fixed set: the name of a command, never its arguments. */
  operation: string;
  seconds: number;
  failed: boolean;
}

/** What the central API answered: the class of its status, or why there was none. */
export type CapiAnswer = '2xx' | '3xx' | '4xx' | '5xx' | 'unknown' | 'unreachable';

/** @param status null: there was no answer */
export function capiAnswerOf(status: number | null): CapiAnswer {
  if (status === null) return 'unreachable';
  const classes = { 2: '2xx', 3: '3xx', 4: '4xx', 5: '5xx' } as const;
  return classes[Math.floor(status / 100) as keyof typeof classes] ?? 'unknown';
}

export interface Meter {
  breakerTurned(name: string, state: BreakerState): void;
  documentEnded(state: TaskState): void;
  stageTook(stage: Stage, seconds: number): void;
  /** From admission to the first reading; less than nothing where two clocks disagree. */
  queueWaited(seconds: number): void;
  /** A document was read by a pool of `schemas/worker-pools.ts`. */
  parsed(pool: string): void;
  modelCalled(call: ModelCall): void;
  tokensUsed(
    operation: ModelCall['operation'],
    usage: { promptTokens: number; completionTokens: number },
  ): void;
  orphansDropped(chunks: number): void;
  engineCalled(call: EngineCall): void;
  /** Signals of one push that were new and are stored. */
  signalsAccepted(signals: number): void;
  /** By the name that an operator gave the rule; null: no rule let the signal pass. */
  signalFiltered(rule: string | null): void;
  signalsForwarded(signals: number): void;
  capiAnswered(operation: 'signals' | 'metrics' | 'relay', answer: CapiAnswer): void;
  pushTook(seconds: number): void;
}

function nothing(): void {
  // It is counted nowhere.
}

/** Counts nothing. */
export const UNMEASURED: Meter = {
  breakerTurned: nothing,
  documentEnded: nothing,
  stageTook: nothing,
  queueWaited: nothing,
  parsed: nothing,
  modelCalled: nothing,
  tokensUsed: nothing,
  orphansDropped: nothing,
  engineCalled: nothing,
  signalsAccepted: nothing,
  signalFiltered: nothing,
  signalsForwarded: nothing,
  capiAnswered: nothing,
  pushTook: nothing,
};
