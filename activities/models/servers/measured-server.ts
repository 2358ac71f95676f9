import type { Meter, ModelCall } from '../../ports/meter.js';
import { currentRequestId, currentSpan } from '../../request-scope.js';
import { discreetFailure, discreetReranker, discreetServer, discreetTranscriber } from './discreet-server.js';
import type { ModelServer } from './model-server.js';
import { ProviderFailure } from './provider-failure.js';
import type { RerankerServer } from './reranker-server.js';
import type { TranscriptionServer } from './transcription-server.js';

export type ModelMeter = Pick<Meter, 'modelCalled' | 'tokensUsed'>;

/** The caller's own leaving says nothing of the server. */
function outcomeOf(error: unknown): string {
  return error instanceof ProviderFailure
    ? error.kind
    : (error as Error).name === 'TimeoutError'
      ? 'timeout'
      : 'cancelled';
}

/** Each exchange is told once, when its answer has ended, however it ends. */
function watch(meter: ModelMeter, provider: string, operation: ModelCall['operation']) {
  const started = performance.now();
  // Asked now: a stream is read on in whatever context its reader is.
  const requestId = currentRequestId();
  const span = currentSpan();
  return (outcome: string): void =>
    meter.modelCalled({
      provider,
      operation,
      outcome,
      seconds: (performance.now() - started) / 1000,
      requestId,
      span,
    });
}

async function watched<T>(done: (outcome: string) => void, call: () => Promise<T>): Promise<T> {
  try {
    const answer = await call();
    done('ok');
    return answer;
  } catch (error) {
    done(outcomeOf(error));
    throw error;
  }
}

/** The same server, with what is asked of it counted, and failures that quote nothing of it. */
export function measuredServer(
  plain: ModelServer,
  meter: ModelMeter,
  provider: string = plain.provider,
): ModelServer {
  const server = discreetServer(plain);
  return {
    ...server,
    embed: (call, signal) => watched(watch(meter, provider, 'embedding'), () => server.embed(call, signal)),
    async complete(call) {
      const reply = await watched(watch(meter, provider, 'chat'), () => server.complete(call));
      if (reply.usage !== undefined) meter.tokensUsed('chat', reply.usage);
      return reply;
    },
    async *stream(call) {
      const done = watch(meter, provider, 'chat');
      // A consumer that has enough leaves by `return`, which ends this in `finally` alone.
      let outcome = 'cancelled';
      try {
        for await (const delta of plain.stream(call)) {
          if (delta.usage !== undefined) meter.tokensUsed('chat', delta.usage);
          if (delta.finishReason !== undefined) outcome = 'ok';
          yield delta;
        }
        outcome = 'ok';
      } catch (error) {
        outcome = outcomeOf(error);
        throw discreetFailure(error, call);
      } finally {
        done(outcome);
      }
    },
  };
}

export function measuredReranker(plain: RerankerServer, meter: ModelMeter, provider: string): RerankerServer {
  // What runs in this process says nothing but sentences of our own.
  const server = provider === 'onnx' ? plain : discreetReranker(plain);
  return {
    ...server,
    score: (call, signal) => watched(watch(meter, provider, 'reranking'), () => server.score(call, signal)),
  };
}

export function measuredTranscriber(plain: TranscriptionServer, meter: ModelMeter): TranscriptionServer {
  const server = discreetTranscriber(plain);
  return {
    transcribe: (call, signal) =>
      watched(watch(meter, 'openai', 'transcription'), () => server.transcribe(call, signal)),
  };
}
