import type { Dispatcher } from 'undici';
import { AppError } from '../../schemas/app-error.js';
import type { ModelEndpoint } from '../../schemas/models/model-endpoints.js';
import type { ModelOverride, ModelOverrides } from '../ports/chat.js';
import { isBlocked, isPublicUrl } from '../outbound/address-guard.js';
import { UNMEASURED } from '../ports/meter.js';
import type { Meter } from '../ports/meter.js';
import type { LanguageModel, ModelEndpointStore } from '../ports/models.js';
import { BUILTIN_ENDPOINT } from './builtin/builtin-endpoints.js';
import { asClientsFault, withErrors } from './clients-fault.js';
import { detectProvider } from './servers/detect-provider.js';
import { ownAnswerTokens, wantedContext } from './endpoint-extra.js';
import { createResilientCalls } from './resilience.js';
import type { ResilientCalls } from './resilience.js';
import type { Semaphore } from './semaphore.js';
import { openModelKey } from './model-key.js';
import type { ModelKeyBox } from './model-key.js';
import { measuredServer } from './servers/measured-server.js';
import { FOREIGN_LIMITS } from './servers/model-exchange.js';
import type { ModelServer } from './servers/model-server.js';
import { createModelServer } from './servers/probe-endpoint.js';
import { providerError } from './servers/provider-failure.js';
import { createRemoteLanguageModel } from './remote-language-model.js';

export interface OverrideModelsOptions {
  endpoints: Pick<ModelEndpointStore, 'get' | 'defaults'>;
  /** For our own endpoints, and for addresses that clients name. */
  dispatchers: { own: Dispatcher; foreign: Dispatcher };
  keys: ModelKeyBox | null;
  meter?: Pick<Meter, 'modelCalled' | 'tokensUsed'>;
  /** The queue of each of our own endpoints, by name. */
  answers: (name: string) => Semaphore;
  settings: {
    /** Whether clients may name an address and a key at all. */
    allowCustomEndpoint: boolean;
    /** Whether an address may lie in our own network. */
    allowPrivate: boolean;
    contextTokens: number;
    timeoutMs: number;
  };
}

/** The name under which calls are counted, whichever server it is: an address is no label. */
const PROVIDER = 'client_override';

function refused(text: string): AppError {
  return new AppError('BAD_REQUEST', text, { plain: true });
}

/** Without slashes at its end; two spellings of one address are one. */
function sameAddress(one: string, other: string): boolean {
  return one.replace(/(?<!\/)\/+$/, '') === other.replace(/(?<!\/)\/+$/, '');
}

/**
 * An address that a client may name: https, and nothing in it that could carry or redirect anything else.
 * @throws AppError BAD_REQUEST
 */
function checkAddress(address: string, allowPrivate: boolean): void {
  const url = URL.parse(address);
  if (url === null || url.protocol !== 'https:')
    throw refused("'llm_override.base_url' must be an https address");
  // As it is written: parsing resolves what is refused here.
  if (
    /[?#\\]/.test(address) ||
    /(^|[/.])\.\.|%2e/i.test(address) ||
    url.username !== '' ||
    url.password !== ''
  )
    throw refused("'llm_override.base_url' must hold no query, fragment, user or '..'");
  if (!allowPrivate && !isPublicUrl(url)) throw refused("'llm_override.base_url' is not allowed");
}

/** What the server says of what a client names (a model, an address, a key) is the client's matter. */
function asClientsMatter(error: unknown, ownKey: boolean, chosen: boolean): unknown {
  if (isBlocked(error)) return refused("'llm_override.base_url' is not allowed");
  if (ownKey && error instanceof AppError && error.code === 'INFERENCE_REFUSED')
    return new AppError('INFERENCE_REFUSED', error.message, { status: 400, cause: error });
  return chosen ? asClientsFault(error, { chosen }) : error;
}

/** Models that clients choose for one question (`metadata.llm_override`; wire contract, sections 1.9 and 2). */
export function createOverrideModels(options: OverrideModelsOptions): ModelOverrides {
  const { endpoints, dispatchers, keys, answers, settings, meter = UNMEASURED } = options;
  const measured = (server: ModelServer): ModelServer => measuredServer(server, meter, PROVIDER);
  const { allowCustomEndpoint, allowPrivate, contextTokens, timeoutMs } = settings;
  const ownCalls = new Map<string, ResilientCalls>();

  const ownEndpoint = async (name: string | undefined): Promise<ModelEndpoint> => {
    const chosen = name ?? (await endpoints.defaults()).llm;
    const endpoint = chosen === undefined ? null : await endpoints.get('llm', chosen);
    if (endpoint === null) throw new AppError('MODEL_ENDPOINT_NOT_FOUND');
    return endpoint;
  };

  /**
   * Our own servers are not to be asked by more at once because clients name another of their models, or a key. What a
   * client's key comes to says nothing of the server: those have a breaker of their own each.
   */
  const callsOf = ({ name }: ModelEndpoint, { apiKey }: ModelOverride): ResilientCalls => {
    const found = apiKey === undefined ? ownCalls.get(name) : undefined;
    const calls = found ?? createResilientCalls({ name, concurrency: answers(name) });
    if (apiKey === undefined) ownCalls.set(name, calls);
    return calls;
  };

  const ownModel = async (endpoint: ModelEndpoint, override: ModelOverride): Promise<LanguageModel> => {
    if (endpoint.endpoint === BUILTIN_ENDPOINT)
      throw refused("'llm_override' needs a 'base_url' here: the service's own model is the built-in one");
    const server = {
      baseUrl: endpoint.endpoint,
      apiKey: override.apiKey ?? openModelKey(keys, endpoint),
      timeoutMs: endpoint.timeout * 1000,
    };
    const provider =
      endpoint.provider === 'ollama' || endpoint.provider === 'openai'
        ? endpoint.provider
        : await detectProvider(dispatchers.own, server).catch((error: unknown) => {
            throw providerError(error, 'chat', endpoint.name);
          });
    return createRemoteLanguageModel({
      endpointName: endpoint.name,
      modelName: override.model ?? endpoint.model_name,
      contextTokens: wantedContext(endpoint) ?? Math.min(endpoint.context_tokens ?? Infinity, contextTokens),
      answerTokens: ownAnswerTokens(endpoint),
      server: measured(createModelServer(dispatchers.own, provider, server)),
      calls: callsOf(endpoint, override),
    });
  };

  const foreignModel = (baseUrl: string, endpoint: ModelEndpoint, override: ModelOverride): LanguageModel =>
    createRemoteLanguageModel({
      endpointName: 'llm_override',
      modelName: override.model ?? endpoint.model_name,
      contextTokens,
      answerTokens: null,
      // Never the service's own key.
      server: measured(
        createModelServer(dispatchers.foreign, 'openai', {
          baseUrl,
          timeoutMs,
          apiKey: override.apiKey ?? null,
          limits: FOREIGN_LIMITS,
        }),
      ),
      calls: createResilientCalls({ name: 'llm_override', concurrency: 1 }),
    });

  return {
    async languageModel(override, name) {
      const { baseUrl, apiKey } = override;
      if (!allowCustomEndpoint && (baseUrl !== undefined || apiKey !== undefined))
        throw refused("'llm_override' may name a 'model' only");
      const endpoint = await ownEndpoint(name);
      const own = baseUrl === undefined || sameAddress(baseUrl, endpoint.endpoint);
      if (!own) checkAddress(baseUrl, allowPrivate);
      const model = own ? await ownModel(endpoint, override) : foreignModel(baseUrl, endpoint, override);
      const chosen = !own || override.model !== undefined;
      return withErrors(model, (error) => asClientsMatter(error, apiKey !== undefined, chosen));
    },
  };
}
