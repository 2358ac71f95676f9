import { AppError } from '../../schemas/app-error.js';
import type { CheckState, ReadyBody } from '../../schemas/documents-api.js';
import type { Adapters, WorkflowStarter } from '../../activities/ports.js';

const PROBE_MS = 2000;
const KEPT_MS = 2000;

type Probe = () => Promise<unknown>;

const stateOf = async (probe: Probe): Promise<CheckState> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<CheckState>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), PROBE_MS);
  });
  const asked = (async (): Promise<CheckState> => {
    await probe();
    return 'ok';
  })().catch((error: unknown): CheckState => {
    const unregistered = error instanceof AppError && error.code === 'MODEL_ENDPOINT_NOT_FOUND';
    return unregistered ? 'unresolvable' : 'unavailable';
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Asks every engine, each for at most 2 s, and keeps the answer for 2 s: probes come often and must not add load.
 * The three engines decide; models are told of and never decide. Each engine is named twice, by its own name and by
 * the one that dashboards of the peer service read.
 */
export const createReadiness = (
  { probes, models }: Pick<Adapters, 'probes' | 'models'>,
  workflows: Pick<WorkflowStarter, 'ping'>,
): (() => Promise<ReadyBody>) => {
  const model = async (kind: 'embedder' | 'llm' | 'reranker'): Promise<void> => {
    const name = await models.defaultName(kind);
    if (name === null) throw new AppError('MODEL_ENDPOINT_NOT_FOUND');
    if (kind === 'embedder') await models.embedder(name);
    if (kind === 'llm') await models.languageModel(name);
  };

  const ask = async (): Promise<ReadyBody> => {
    const [mongodb, opensearch, temporal, embedder, llm, reranker] = await Promise.all([
      stateOf(() => probes.mongodb()),
      stateOf(() => probes.opensearch()),
      stateOf(() => workflows.ping()),
      stateOf(() => model('embedder')),
      stateOf(() => model('llm')),
      stateOf(() => model('reranker')),
    ]);
    const ready = [mongodb, opensearch, temporal].every((state) => state === 'ok');
    return {
      status: ready ? 'ready' : 'not_ready',
      checks: {
        ...{ postgres: mongodb, milvus: opensearch, ray: temporal },
        ...{ mongodb, opensearch, temporal },
        ...{ embedder, llm, reranker },
      },
      model_endpoints: Object.entries({ embedder, llm, reranker })
        .filter(([, status]) => status !== 'unresolvable')
        .map(([kind, status]) => ({ provider: 'configured' as const, kind, status })),
      configuration_references: [],
    };
  };

  let kept: { body: Promise<ReadyBody>; until: number } | undefined;
  return () => {
    const now = Date.now();
    if (kept === undefined || now >= kept.until) {
      const body = ask();
      kept = { body, until: Infinity };
      const mine = kept;
      void body.finally(() => (mine.until = Date.now() + KEPT_MS));
    }
    return kept.body;
  };
};
