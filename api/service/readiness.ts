import { LATE, orLate } from '../../activities/temporal/or-late.js';
import { AppError } from '../../schemas/app-error.js';
import { accessProblemOf } from '../../schemas/engine-access.js';
import type { CheckState, ReadyBody } from '../../schemas/documents/documents-api.js';
import { MODEL_TYPES } from '../../schemas/models/model-endpoints.js';
import type { ModelType } from '../../schemas/models/model-endpoints.js';
import type { Adapters, RateLimits } from '../../activities/ports/adapters.js';
import type { WorkflowStarter } from '../../activities/ports/tasks.js';
import { checkMigrations } from './pending-migrations.js';
import { lookUpReferences } from '../models/configuration-references.js';
import type { ConfigurationReferences } from '../models/configuration-references.js';

const PROBE_MS = 2000;
const KEPT_MS = 2000;

type Probe = (signal: AbortSignal) => Promise<unknown>;

/** @param problems where the sentence about an engine that turns us away goes */
async function stateOf(probe: Probe, problems?: string[]): Promise<CheckState> {
  const given = new AbortController();
  try {
    return (await orLate(probe(given.signal), PROBE_MS)) === LATE ? 'timeout' : 'ok';
  } catch (error) {
    const problem = accessProblemOf(error);
    if (problem !== undefined) problems?.push(problem.message);
    const unregistered = error instanceof AppError && error.code === 'MODEL_ENDPOINT_NOT_FOUND';
    return unregistered ? 'unresolvable' : 'unavailable';
  } finally {
    // A probe that takes longer must not go on: the next one is two seconds away.
    given.abort();
  }
}

/** Its error is one sentence for people already. */
function stateOfProvider(provider: { check(): Promise<void> }, problems: string[]): Promise<CheckState> {
  return stateOf(() =>
    provider.check().catch((error: unknown) => {
      problems.push(AppError.from(error).message);
      throw error;
    }),
  );
}

/** Those that are told of whether there are any or not. */
const CORE_KINDS = ['embedder', 'llm', 'reranker'] as const;
/** Each takes a request. */
const MAX_ENDPOINTS = 50;

interface ReadinessDeps {
  adapters: Pick<
    Adapters,
    'probes' | 'models' | 'partitions' | 'presets' | 'endpoints' | 'prompts' | 'migrations'
  >;
  workflows: Pick<WorkflowStarter, 'ping'>;
  config: { readiness: { requireEmbedder: boolean } };
  rateLimits: Pick<RateLimits, 'problem'>;
  identityProvider?: { check(): Promise<void> } | null;
}

/**
 * Asks every engine, each for at most 2 s, and keeps the answer for 2 s: probes come often and must not add load.
 * The three engines decide; models are only reported, unless READINESS_REQUIRE_EMBEDDER is on: then an embedder
 * that is away or not configured decides too, but not a slow one, and only when the table of endpoints could be read.
 * Names in the configuration that resolve to nothing are reported as well, without effect, and so is what is to be
 * migrated: requests that need it say so themselves.
 * Each engine is named twice, by its own name and by the one that dashboards of the peer service read.
 * Redis is not asked, since nothing rests on it; that it turns us away is told. An identity provider is told of and
 * decides nothing: tokens and sessions hold without it.
 */
export function createReadiness({
  adapters,
  workflows,
  config: { readiness: settings },
  rateLimits: limits,
  identityProvider: provider = null,
}: ReadinessDeps): () => Promise<ReadyBody> {
  const { probes, models } = adapters;

  /** Empty while they cannot be read: the checks say why. */
  const references = async (): Promise<ConfigurationReferences> => {
    let found: ConfigurationReferences = { unresolved: [], models: [] };
    const state = await stateOf(async () => {
      found = await lookUpReferences(adapters);
    });
    return state === 'ok' ? found : { unresolved: [], models: [] };
  };

  /** The names of the defaults, or why they cannot be read. */
  const discover = async (): Promise<{ state: CheckState; names: Map<ModelType, string | null> }> => {
    const names = new Map<ModelType, string | null>();
    const state = await stateOf(async () => {
      for (const kind of MODEL_TYPES) names.set(kind, await models.defaultName(kind));
    });
    return { state, names };
  };

  /** The defaults and what partitions and presets name beside them, by kind, the default of each first. */
  const checkModels = async () => {
    const [{ state: discovery, names }, { unresolved, models: named }] = await Promise.all([
      discover(),
      references(),
    ]);
    const isDefault = (type: ModelType, name: string): boolean => names.get(type) === name;
    const inUse = [
      ...[...names].flatMap(([type, name]) => (name === null ? [] : [{ type, name }])),
      ...named.filter(({ type, name }) => !isDefault(type, name)),
    ]
      .slice(0, MAX_ENDPOINTS)
      .sort((a, b) => MODEL_TYPES.indexOf(a.type) - MODEL_TYPES.indexOf(b.type));
    const endpoints =
      discovery === 'ok'
        ? await Promise.all(
            inUse.map(async ({ type: kind, name }) => ({
              kind,
              name,
              status: await stateOf((signal) => models.check(kind, name, signal)),
            })),
          )
        : [];
    const states: Record<string, CheckState> = {};
    for (const kind of MODEL_TYPES) {
      const ofKind = endpoints.filter((endpoint) => endpoint.kind === kind);
      const byDefault = ofKind.find(({ name }) => isDefault(kind, name))?.status;
      const isCore = (CORE_KINDS as readonly string[]).includes(kind);
      if (isCore) states[kind] = discovery === 'ok' ? (byDefault ?? 'unresolvable') : discovery;
      else if (ofKind.length > 0)
        states[kind] = byDefault ?? ofKind.find(({ status }) => status !== 'ok')?.status ?? 'ok';
    }
    return { discovery, unresolved, endpoints, states };
  };

  const ask = async (): Promise<ReadyBody> => {
    const problems: string[] = [];
    const [mongodb, opensearch, temporal, { discovery, unresolved, endpoints, states }, migrations, signIn] =
      await Promise.all([
        stateOf(() => probes.mongodb(), problems),
        stateOf(() => probes.opensearch(), problems),
        stateOf(() => workflows.ping(), problems),
        checkModels(),
        checkMigrations(adapters.migrations.migrations, stateOf),
        provider === null ? null : stateOfProvider(provider, problems),
      ]);
    const engines = [mongodb, opensearch, temporal].every((state) => state === 'ok');
    const blocked =
      settings.requireEmbedder &&
      discovery === 'ok' &&
      ['unavailable', 'unresolvable'].includes(states['embedder']!);
    return {
      status: engines && !blocked ? 'ready' : 'not_ready',
      checks: {
        postgres: mongodb,
        milvus: opensearch,
        ray: temporal,
        mongodb,
        opensearch,
        temporal,
        ...states,
        migrations: migrations.state,
        ...(signIn !== null && { identity_provider: signIn }),
        ...(discovery !== 'ok' && { model_endpoint_discovery: discovery }),
      },
      // Without their names: the probe needs no token.
      model_endpoints: endpoints.map(({ kind, status }) => ({
        provider: 'configured' as const,
        kind,
        status,
      })),
      configuration_references: unresolved,
      migrations: migrations.rows,
      ...told(problems, limits),
    };
  };

  return keepAnswer(ask);
}

/** The same where documents are not served: the record store and Temporal decide, and nothing else is asked. */
export function createProxyReadiness(
  pingRecords: () => Promise<void>,
  workflows: Pick<WorkflowStarter, 'ping'>,
  limits: Pick<RateLimits, 'problem'>,
): () => Promise<ReadyBody> {
  return keepAnswer(async () => {
    const problems: string[] = [];
    const [mongodb, temporal] = await Promise.all([
      stateOf(pingRecords, problems),
      stateOf(() => workflows.ping(), problems),
    ]);
    return {
      status: mongodb === 'ok' && temporal === 'ok' ? 'ready' : 'not_ready',
      checks: { postgres: mongodb, ray: temporal, mongodb, temporal },
      model_endpoints: [],
      configuration_references: [],
      migrations: [],
      ...told(problems, limits),
    };
  });
}

/** Nothing where there is nothing to say. */
function told(problems: readonly string[], limits: Pick<RateLimits, 'problem'>): Pick<ReadyBody, 'problems'> {
  const redis = limits.problem();
  const all = [...problems, ...(redis === null ? [] : [redis.message])];
  return all.length === 0 ? {} : { problems: all };
}

/** One question at a time, whose answer is kept for a while. */
function keepAnswer(ask: () => Promise<ReadyBody>): () => Promise<ReadyBody> {
  let kept: { body: Promise<ReadyBody>; until: number } | undefined;
  return () => {
    const now = Date.now();
    if (kept === undefined || now >= kept.until) {
      const body = ask();
      kept = { body, until: Infinity };
      const mine = kept;
      const keep = () => void (mine.until = Date.now() + KEPT_MS);
      // Also one that fails: its failure is for those who asked; nothing waits for this.
      void body.then(keep, keep);
    }
    return kept.body;
  };
}
