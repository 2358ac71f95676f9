import { timingSafeEqual } from 'node:crypto';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Config } from '../schemas/config/config.js';
import { sha256Hex } from '../schemas/sha256.js';
import type { BreakerState, Meter, ModelCall } from './ports/meter.js';

/** From a probe to an answer of a model that takes minutes. */
export const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** From a note to an archive of a thousand pages, or to a queue of half a day. */
const LONG_BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 43_200];
/** From a command on one record to a time-out. */
const ENGINE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const BREAKER_VALUES: Readonly<Record<BreakerState, number>> = { closed: 0, 'half-open': 1, open: 2 };

/** Where no rule is to be named. */
const NO_RULE = 'none';

export interface ProcessMetrics {
  /** Everything of this process; a gateway adds what it asks of the stores. */
  registry: Registry;
  meter: Meter;
}

/**
 * The series that both processes write, under the names of the wire contract, section 6.3; those of the proxy and of
 * the engines start with `tamis_`.
 * @param onModelCall told of each exchange with a model server
 */
export function createMetrics(onModelCall: (call: ModelCall) => void = () => undefined): ProcessMetrics {
  const registry = new Registry();
  const registers = [registry];
  const breakers = new Gauge({
    name: 'openrag_circuit_breaker_state',
    help: 'Of a model endpoint: 0 closed, 1 half-open (one call tries), 2 open',
    labelNames: ['name'],
    registers,
  });
  const documents = new Counter({
    name: 'openrag_ingest_documents_total',
    help: 'Tasks that ended, by their final state; without those that ended with their partition',
    labelNames: ['status'],
    registers,
  });
  const stages = new Histogram({
    name: 'openrag_ingest_stage_duration_seconds',
    help: 'Time of one document in a stage',
    labelNames: ['stage'],
    buckets: LONG_BUCKETS,
    registers,
  });
  const waits = new Histogram({
    name: 'openrag_ingest_queue_wait_seconds',
    help: 'From the admission of a document to the begin of its reading',
    buckets: LONG_BUCKETS,
    registers,
  });
  const skews = new Counter({
    name: 'openrag_ingest_clock_skew_events_total',
    help: 'Documents that by the clocks began before they were admitted',
    registers,
  });
  const parsings = new Gauge({
    name: 'openrag_ingest_last_parse_completion_timestamp_seconds',
    help: 'When a document was last read to its end',
    labelNames: ['pool'],
    registers,
  });
  const modelCalls = new Counter({
    name: 'openrag_inference_requests_total',
    help: 'Exchanges with model servers; each try counts, built-in models do not',
    labelNames: ['provider', 'operation', 'outcome'],
    registers,
  });
  const modelTimes = new Histogram({
    name: 'openrag_inference_duration_seconds',
    help: 'From a question to a model server to the end of its answer',
    labelNames: ['provider', 'operation'],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const tokens = new Counter({
    name: 'openrag_llm_tokens_total',
    help: 'Tokens by the count of the model server, where it tells',
    labelNames: ['operation', 'kind'],
    registers,
  });
  const orphans = new Counter({
    name: 'openrag_retrieval_orphan_chunks_dropped_total',
    help: 'Hits of versions that are not live, which searches left out',
    registers,
  });
  const engineTimes = new Histogram({
    name: 'tamis_engine_call_duration_seconds',
    help: 'Calls to an engine, failed ones included',
    labelNames: ['engine', 'operation'],
    buckets: ENGINE_BUCKETS,
    registers,
  });
  const engineErrors = new Counter({
    name: 'tamis_engine_errors_total',
    help: 'Calls to an engine that failed',
    labelNames: ['engine', 'operation'],
    registers,
  });
  const accepted = new Counter({
    name: 'tamis_signals_accepted_total',
    help: 'Signals that were stored; a repeated one counts once',
    registers,
  });
  const filtered = new Counter({
    name: 'tamis_signals_filtered_total',
    help: 'Signals that are not forwarded, by each rule that matched; none: no rule let it pass',
    labelNames: ['rule'],
    registers,
  });
  const forwarded = new Counter({
    name: 'tamis_signals_forwarded_total',
    help: 'Signals that the central API took',
    registers,
  });
  const answers = new Counter({
    name: 'tamis_capi_answers_total',
    help: 'What the central API answered, by the class of its status',
    labelNames: ['operation', 'class'],
    registers,
  });
  const pushes = new Histogram({
    name: 'tamis_push_duration_seconds',
    help: 'From the begin of a push that was stored to its answer',
    buckets: ENGINE_BUCKETS,
    registers,
  });

  const meter: Meter = {
    breakerTurned(name, state) {
      breakers.set({ name }, BREAKER_VALUES[state]);
    },
    documentEnded(state) {
      documents.inc({ status: state });
    },
    stageTook(stage, seconds) {
      stages.observe({ stage }, seconds);
    },
    queueWaited(seconds) {
      if (seconds < 0) skews.inc();
      waits.observe(Math.max(0, seconds));
    },
    parsed(pool) {
      parsings.setToCurrentTime({ pool });
    },
    modelCalled(call) {
      const { provider, operation, outcome, seconds } = call;
      modelCalls.inc({ provider, operation, outcome });
      modelTimes.observe({ provider, operation }, seconds);
      onModelCall(call);
    },
    tokensUsed(operation, { promptTokens, completionTokens }) {
      tokens.inc({ operation, kind: 'prompt' }, promptTokens);
      tokens.inc({ operation, kind: 'completion' }, completionTokens);
    },
    orphansDropped(chunks) {
      orphans.inc(chunks);
    },
    engineCalled({ engine, operation, seconds, failed }) {
      engineTimes.observe({ engine, operation }, seconds);
      if (failed) engineErrors.inc({ engine, operation });
    },
    signalsAccepted(signals) {
      accepted.inc(signals);
    },
    signalFiltered(rule) {
      filtered.inc({ rule: rule ?? NO_RULE });
    },
    signalsForwarded(signals) {
      forwarded.inc(signals);
    },
    capiAnswered(operation, answer) {
      answers.inc({ operation, class: answer });
    },
    pushTook(seconds) {
      pushes.observe(seconds);
    },
  };
  return { registry, meter };
}

/** Event loop, heap, processor time and handles of this process. */
export function watchProcess({ registry }: Pick<ProcessMetrics, 'registry'>): void {
  collectDefaultMetrics({ register: registry });
}

/** @returns why a scraper is refused; null: it may read */
export function refusalOfScraper(
  { auth, metrics }: Pick<Config, 'auth' | 'metrics'>,
  /** What it sent; null: nothing. */
  bearer: string | null,
): string | null {
  if (metrics.token === null)
    return metrics.allowUnauthenticated
      ? null
      : 'Metrics endpoint disabled: set METRICS_TOKEN, or METRICS_ALLOW_UNAUTHENTICATED=true to open it.';
  const given = bearer ?? '';
  // Scrapers have a token of their own; the administrator's is none of theirs, also where both were set alike.
  const isAdmins = auth.token !== null && isSame(given, auth.token);
  return isAdmins || !isSame(given, metrics.token) ? 'Invalid metrics token' : null;
}

/** Of digests, which are of one length whatever was sent. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(Buffer.from(sha256Hex(given)), Buffer.from(sha256Hex(expected)));
}
