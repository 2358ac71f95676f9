import type { Dispatcher } from 'undici';
import type { EndpointDraft, EndpointInspection } from '../../ports/model-administration.js';
import { BUILTIN_ENDPOINT } from '../builtin/builtin-endpoints.js';
import { detectProvider } from './detect-provider.js';
import { openExchange } from './model-exchange.js';
import { createModelServer } from './probe-endpoint.js';
import { ProviderFailure } from './provider-failure.js';
import { sameModel } from './model-server.js';
import { healthUrl, openAiAddress } from './server-address.js';

/** An administrator waits for the answer: a server that is slower than this is said to be away. */
const MAX_TIMEOUT_MS = 10_000;
/** A router of models lists thousands. */
const MAX_LISTED = 500;

const WELL: EndpointInspection = {
  reachable: true,
  modelFound: null,
  modelsServed: [],
  transcriptionSupported: null,
  detail: null,
};

/** Refusals that come from a server that is there. */
const THERE = new Set(['credentials', 'unknown-model', 'too-long', 'rate-limited', 'refused', 'bad-answer']);

function spoilt(failure: ProviderFailure): EndpointInspection {
  return {
    ...WELL,
    reachable: THERE.has(failure.kind),
    detail: failure.message,
  };
}

/**
 * Asks a model server what it is, for an administrator. The address is not guarded against private networks, on
 * purpose: model servers stand in the operator's own network, and an administrator may register any address
 * anyway. What keeps it from being a way into that network for others: administrators alone may ask, http and https
 * alone are spoken, redirects are not followed, and of the answer only model names and one short sentence are told.
 */
export async function inspectEndpoint(
  dispatcher: Dispatcher,
  draft: EndpointDraft,
  signal?: AbortSignal,
): Promise<EndpointInspection> {
  if (draft.endpoint === BUILTIN_ENDPOINT)
    return { ...WELL, modelFound: true, modelsServed: [draft.model_name] };
  const options = {
    baseUrl: draft.endpoint,
    apiKey: draft.apiKey,
    timeoutMs: Math.min(draft.timeout * 1000, MAX_TIMEOUT_MS),
  };

  const listed = async (): Promise<EndpointInspection> => {
    const provider =
      draft.provider === 'ollama' || draft.provider === 'openai'
        ? draft.provider
        : await detectProvider(dispatcher, options, signal);
    const served = await createModelServer(dispatcher, provider, options).models(signal);
    const found = served.some(({ name }) => sameModel(name, draft.model_name));
    return {
      ...WELL,
      modelFound: found,
      modelsServed: served.slice(0, MAX_LISTED).map(({ name }) => name),
      detail: found ? null : `The server does not list a model '${draft.model_name}'.`,
    };
  };

  /** Rerankers of these kinds need no list of models; they say whether they are well (wire contract, 1.2). */
  const healthy = async (): Promise<EndpointInspection> => {
    const url = healthUrl(draft.endpoint);
    const { headers } = openAiAddress(draft.endpoint, draft.apiKey);
    const { timeoutMs } = options;
    (await openExchange({ dispatcher, url, headers, signal, timeoutMs })).discard();
    return WELL;
  };

  /** An empty question: a server that knows the path complains of what is missing, another one of the path. */
  const transcribes = async (): Promise<boolean | null> => {
    const { base, headers } = openAiAddress(draft.endpoint, draft.apiKey);
    try {
      const answer = await openExchange({
        dispatcher,
        url: `${base}/audio/transcriptions`,
        method: 'POST',
        body: '{}',
        signal,
        headers: { ...headers, 'content-type': 'application/json' },
        timeoutMs: options.timeoutMs,
      });
      answer.discard();
      return true;
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      if (error.kind === 'unknown-model') return false;
      return error.kind === 'refused' ? true : null;
    }
  };

  try {
    if (draft.model_type === 'reranker' && draft.provider !== 'openai') return await healthy();
    const list = await listed();
    return draft.model_type === 'stt' ? { ...list, transcriptionSupported: await transcribes() } : list;
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof ProviderFailure)) throw error;
    // A server of one model may have no list of models.
    if (error.kind === 'unknown-model') return { ...WELL, detail: 'The server does not list its models.' };
    return spoilt(error);
  }
}
