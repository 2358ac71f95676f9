import { withoutQuotes } from '../../text/without-quotes.js';
import type { ChatCall, EmbedCall, ModelServer } from './model-server.js';
import { ProviderFailure } from './provider-failure.js';
import type { FailureKind } from './provider-failure.js';
import type { RerankerServer } from './reranker-server.js';
import type { TranscriptionServer } from './transcription-server.js';

/** Sentences of our own, about the line. */
const OURS: ReadonlySet<FailureKind> = new Set(['connection', 'credentials']);

function discreet(error: unknown, asked: () => readonly string[]): unknown {
  if (!(error instanceof ProviderFailure) || OURS.has(error.kind)) return error;
  const { kind, message, cause, retryAfterMs, status } = error;
  return new ProviderFailure(kind, withoutQuotes(message, asked()), {
    cause,
    retryAfterMs,
    ...(status === undefined ? {} : { status }),
  });
}

const textsOf = {
  chat: ({ messages }: ChatCall) => messages.map(({ content }) => content),
  embed: ({ texts }: EmbedCall) => texts,
};

function orDiscreet<T>(answer: Promise<T>, asked: () => readonly string[]): Promise<T> {
  return answer.catch((error: unknown) => {
    throw discreet(error, asked);
  });
}

/** What a chat failed with, without what was asked in it. */
export function discreetFailure(error: unknown, call: ChatCall): unknown {
  return discreet(error, () => textsOf.chat(call));
}

/** The same server, whose failures quote nothing of what it was asked; of its streams, see `discreetFailure`. */
export function discreetServer(server: ModelServer): Omit<ModelServer, 'stream'> {
  return {
    ...server,
    embed: (call, signal) => orDiscreet(server.embed(call, signal), () => textsOf.embed(call)),
    complete: (call) => orDiscreet(server.complete(call), () => textsOf.chat(call)),
  };
}

export function discreetReranker(server: RerankerServer): RerankerServer {
  return {
    ...server,
    score: (call, signal) => orDiscreet(server.score(call, signal), () => [call.query, ...call.texts]),
  };
}

export function discreetTranscriber(server: TranscriptionServer): TranscriptionServer {
  return {
    transcribe: (call, signal) =>
      orDiscreet(server.transcribe(call, signal), () => (call.prompt === null ? [] : [call.prompt])),
  };
}
