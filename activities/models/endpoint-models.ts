import type { Dispatcher } from 'undici';
import { AppError } from '../../schemas/app-error.js';
import { ONNX_ENDPOINT, RERANKER_PROVIDERS } from '../../schemas/models/model-endpoints.js';
import type { ModelEndpoint, RerankerProvider } from '../../schemas/models/model-endpoints.js';
import type { ChunkStore } from '../ports/chunks.js';
import { UNMEASURED } from '../ports/meter.js';
import type { Meter } from '../ports/meter.js';
import type { Embedder, LanguageModel, ModelEndpointStore } from '../ports/models.js';
import { ownAnswerTokens, ownThreshold, wantedContext, embedderWindow } from './endpoint-extra.js';
import { createResilientCalls } from './resilience.js';
import type { ResilientCalls } from './resilience.js';
import { createSemaphores } from './semaphore.js';
import type { Semaphore } from './semaphore.js';
import type { ModelBuilder } from './model-registry.js';
import { openModelKey } from './model-key.js';
import type { ModelKeyBox } from './model-key.js';
import { createModelServer, probeEndpoint } from './servers/probe-endpoint.js';
import { ProviderFailure, providerError } from './servers/provider-failure.js';
import type { OnnxModels } from './onnx/onnx-models.js';
import { createJointEmbedder } from './joint-embedder.js';
import { createRemoteEmbedder } from './remote-embedder.js';
import { createRemoteLanguageModel } from './remote-language-model.js';
import { createRemoteReranker } from './remote-reranker.js';
import { createRemoteTranscriber } from './remote-transcriber.js';
import { measuredReranker, measuredServer, measuredTranscriber } from './servers/measured-server.js';
import { createRerankerServer } from './servers/reranker-server.js';
import type { RerankerServer } from './servers/reranker-server.js';
import { sameModel } from './servers/model-server.js';
import { createTranscriptionServer } from './servers/transcription-server.js';

export interface EndpointModelsOptions {
  dispatcher: Dispatcher;
  /** The rerankers that need no server. */
  onnx: Pick<OnnxModels, 'reranker'>;
  endpoints: Pick<ModelEndpointStore, 'recordProbe'>;
  chunks: Pick<ChunkStore, 'ensureSchema'>;
  /** Null without SECRETS_KEY. */
  keys: ModelKeyBox | null;
  /** The queue of each language model, by its endpoint's name: one that overrides share. */
  answers?: (name: string) => Semaphore;
  settings: {
    embedderConcurrency: number;
    embedderThreads: number | null;
    llmConcurrency: number;
    rerankerConcurrency: number;
    vlmConcurrency: number;
    transcriberConcurrency: number;
    /** The least that is waited for a transcript. */
    transcriberTimeoutSeconds: number;
    maxModelLen: number | null;
  };
  meter?: Meter;
  now?: () => Date;
}

interface Kept<Model> {
  fingerprint: string;
  model: Model;
}

/** Infinity's form is what most servers speak. */
function rerankerProvider({ provider }: ModelEndpoint): RerankerProvider {
  return RERANKER_PROVIDERS.find((known) => known === provider) ?? 'infinity';
}

function isRemote({ endpoint }: ModelEndpoint): boolean {
  return /^https?:/.test(endpoint);
}

/** Those that rerank may also come from the folder of models. */
function canRerank(endpoint: ModelEndpoint): boolean {
  return isRemote(endpoint) || endpoint.endpoint === ONNX_ENDPOINT;
}

const USES = { embedder: 'embedding', reranker: 'reranking', stt: 'transcription' } as const;

/** What a model is made of; another fingerprint, another model. */
function fingerprintOf(endpoint: ModelEndpoint): string {
  return JSON.stringify({ ...endpoint, created_at: null, updated_at: null, probed_at: null });
}

/** Server and model decide which breaker and which queue a call goes through. */
function callsKey({ model_type, name, endpoint, model_name }: ModelEndpoint): string {
  return JSON.stringify([model_type, name, endpoint, model_name]);
}

/**
 * Models on servers, made from their endpoint records. What only the server knows (dialect, dimension, window) is asked
 * when an endpoint is first needed, and kept in its record: a server that is away when we start costs nothing but a
 * later question. Models are kept from call to call, since breakers, queues and batch sizes learn.
 */
export function createEndpointModels(options: EndpointModelsOptions): ModelBuilder {
  const { dispatcher, onnx, endpoints, chunks, keys, settings, now = () => new Date() } = options;
  const { meter = UNMEASURED, answers = createSemaphores(settings.llmConcurrency) } = options;
  const calls = new Map<string, ResilientCalls>();
  const embedders = new Map<string, Kept<Promise<Embedder>>>();
  const languageModels = new Map<string, Kept<LanguageModel>>();
  /** Fingerprints of endpoints whose model is known to see, or whose server does not tell. */
  const seeing = new Set<string>();
  const probes = new Map<string, Promise<ModelEndpoint>>();

  const serverOptions = (endpoint: ModelEndpoint) => ({
    baseUrl: endpoint.endpoint,
    apiKey: openModelKey(keys, endpoint),
    timeoutMs: endpoint.timeout * 1000,
  });

  const openCalls = ({ name, model_type: type }: ModelEndpoint, concurrency: number): ResilientCalls =>
    createResilientCalls({
      name,
      concurrency: type === 'llm' ? answers(name) : concurrency,
      onState: (state) => meter.breakerTurned(`${type}:${name}`, state),
    });

  const callsOf = (endpoint: ModelEndpoint): ResilientCalls => {
    const key = callsKey(endpoint);
    const { embedderConcurrency, llmConcurrency, rerankerConcurrency, vlmConcurrency } = settings;
    const { transcriberConcurrency } = settings;
    const concurrencies = {
      embedder: embedderConcurrency,
      reranker: rerankerConcurrency,
      vlm: vlmConcurrency,
      llm: llmConcurrency,
      stt: transcriberConcurrency,
    };
    const concurrency = concurrencies[endpoint.model_type];
    const found = calls.get(key) ?? openCalls(endpoint, concurrency);
    calls.set(key, found);
    return found;
  };

  const ask = async (endpoint: ModelEndpoint): Promise<ModelEndpoint> => {
    const { maxModelLen, embedderThreads: threads } = settings;
    const probe = { ...serverOptions(endpoint), maxModelLen, threads };
    const facts = await callsOf(endpoint)
      .run(() => probeEndpoint(dispatcher, endpoint, probe))
      .catch((error: unknown) => {
        throw providerError(error, endpoint.model_type === 'embedder' ? 'embedding' : 'chat', endpoint.name);
      });
    const recorded = await endpoints.recordProbe(endpoint, facts, now());
    if (recorded === null) throw new AppError('MODEL_ENDPOINT_NOT_FOUND');
    return recorded;
  };

  /** Many callers at once wait for one probe. */
  const probed = (endpoint: ModelEndpoint): Promise<ModelEndpoint> => {
    if (endpoint.probed_at !== null) return Promise.resolve(endpoint);
    const key = fingerprintOf(endpoint);
    const running = probes.get(key) ?? ask(endpoint).finally(() => probes.delete(key));
    probes.set(key, running);
    return running;
  };

  const serverOf = (endpoint: ModelEndpoint) => {
    const { provider } = endpoint;
    if (provider !== 'ollama' && provider !== 'openai')
      throw new AppError('CONFIG_ERROR', `The model endpoint '${endpoint.name}' names no provider.`);
    return measuredServer(createModelServer(dispatcher, provider, serverOptions(endpoint)), meter);
  };

  const rerankerOf = (endpoint: ModelEndpoint): RerankerServer =>
    endpoint.endpoint === ONNX_ENDPOINT
      ? onnx.reranker
      : createRerankerServer(dispatcher, rerankerProvider(endpoint), serverOptions(endpoint));

  const buildEmbedder = async (endpoint: ModelEndpoint): Promise<Embedder> => {
    const { dimension, vector_field: vectorField } = endpoint;
    if (dimension === null || vectorField === null)
      throw new AppError(
        'CONFIG_ERROR',
        `The model endpoint '${endpoint.name}' has no vector field or dimension.`,
      );
    // Other processes were started before this embedder was known; nothing may be searched or stored before.
    await chunks.ensureSchema([{ vectorField, dimension }]);
    const embedder = createRemoteEmbedder({
      endpointName: endpoint.name,
      modelName: endpoint.model_name,
      dimension,
      vectorField,
      batchSize: endpoint.batch_size,
      concurrency: settings.embedderConcurrency,
      threads: settings.embedderThreads,
      maxInputTokens: embedderWindow(endpoint.context_tokens, endpoint.provider, settings.maxModelLen),
      similarityThreshold: ownThreshold(endpoint),
      textForm: endpoint.text_form ?? 'plain',
      server: serverOf(endpoint),
      calls: callsOf(endpoint),
    });
    // Other servers, and those behind an interface of OpenAI's form, work on many requests at once.
    return createJointEmbedder(embedder, {
      size: endpoint.batch_size,
      joinsQuestions: endpoint.provider === 'ollama',
    });
  };

  const talking = (endpoint: ModelEndpoint, contextTokens: number): LanguageModel => {
    const fingerprint = fingerprintOf(endpoint);
    const key = callsKey(endpoint);
    const kept = languageModels.get(key);
    if (kept?.fingerprint === fingerprint) return kept.model;
    const model = createRemoteLanguageModel({
      endpointName: endpoint.name,
      modelName: endpoint.model_name,
      // Never more than we would send: a longer window costs memory on the server. The operator's word goes first.
      contextTokens: wantedContext(endpoint) ?? Math.min(endpoint.context_tokens ?? Infinity, contextTokens),
      answerTokens: ownAnswerTokens(endpoint),
      server: serverOf(endpoint),
      calls: callsOf(endpoint),
    });
    languageModels.set(key, { fingerprint, model });
    return model;
  };

  /** Ollama leaves pictures out in silence when a model does not see, and the model then makes something up. */
  const requireSight = async (endpoint: ModelEndpoint): Promise<void> => {
    const key = fingerprintOf(endpoint);
    if (seeing.has(key)) return;
    const { sees } = await callsOf(endpoint)
      .run(() => serverOf(endpoint).describe(endpoint.model_name))
      .catch((error: unknown) => {
        throw providerError(error, 'chat', endpoint.name);
      });
    if (sees === false)
      throw new AppError(
        'CONFIG_ERROR',
        `The model of the endpoint '${endpoint.name}' does not see pictures.`,
      );
    seeing.add(key);
  };

  return {
    async embedder(registered) {
      if (!isRemote(registered)) return null;
      const endpoint = await probed(registered);
      const fingerprint = fingerprintOf(endpoint);
      const kept = embedders.get(endpoint.name);
      if (kept?.fingerprint === fingerprint) return kept.model;
      const model = buildEmbedder(endpoint);
      embedders.set(endpoint.name, { fingerprint, model });
      model.catch(() => {
        if (embedders.get(endpoint.name)?.model === model) embedders.delete(endpoint.name);
      });
      return model;
    },
    async languageModel(registered, contextTokens) {
      if (!isRemote(registered)) return null;
      return talking(await probed(registered), contextTokens);
    },
    async visionModel(registered, contextTokens) {
      if (!isRemote(registered)) return null;
      const endpoint = await probed(registered);
      await requireSight(endpoint);
      return talking(endpoint, contextTokens);
    },
    async reranker(registered) {
      if (!canRerank(registered)) return null;
      return createRemoteReranker({
        endpointName: registered.name,
        modelName: registered.model_name,
        batchSize: registered.batch_size,
        timeoutMs: registered.timeout * 1000,
        server: measuredReranker(rerankerOf(registered), meter, rerankerProvider(registered)),
        calls: callsOf(registered),
      });
    },
    async transcriber(registered) {
      if (!isRemote(registered)) return null;
      const timeout = Math.max(registered.timeout, settings.transcriberTimeoutSeconds);
      const options = { ...serverOptions(registered), timeoutMs: timeout * 1000 };
      return createRemoteTranscriber({
        endpointName: registered.name,
        modelName: registered.model_name,
        server: measuredTranscriber(createTranscriptionServer(dispatcher, options), meter),
        calls: callsOf(registered),
      });
    },
    async check(registered, signal) {
      const isReranker = registered.model_type === 'reranker';
      if (!(isReranker ? canRerank : isRemote)(registered)) return false;
      const use = USES[registered.model_type as keyof typeof USES] ?? 'chat';
      try {
        if (isReranker) {
          await rerankerOf(registered).check(registered.model_name, signal);
          return true;
        }
        const provider = registered.provider === 'ollama' ? 'ollama' : 'openai';
        const server = createModelServer(dispatcher, provider, serverOptions(registered));
        const served = await server.models(signal);
        if (!served.some(({ name }) => sameModel(name, registered.model_name)))
          throw new ProviderFailure('unknown-model', `no model '${registered.model_name}' is served`);
      } catch (error) {
        throw providerError(error, use, registered.name);
      }
      return true;
    },
  };
}
