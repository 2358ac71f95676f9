import { openAsBlob } from 'node:fs';
import { FormData } from 'undici';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import type { Recording, Transcript, TranscriptSegment } from '../../ports/models.js';
import { openExchange, readJson } from './model-exchange.js';
import type { ModelServerOptions } from './model-server.js';
import { ProviderFailure, readAs } from './provider-failure.js';
import { openAiAddress } from './server-address.js';

export interface TranscribeCall {
  model: string;
  recording: Recording;
  prompt: string | null;
}

/** Throws `ProviderFailure`, or the signal's reason when aborted. */
export interface TranscriptionServer {
  transcribe(call: TranscribeCall, signal?: AbortSignal): Promise<Transcript>;
}

const Segment = z.object({ start: z.number().min(0), end: z.number().min(0), text: z.string() });

/** `json` has the text alone; times that cannot be read cost the times and not the text. */
const Answer = z.object({
  text: z.string(),
  segments: z
    .array(Segment)
    .nullish()
    .catch(() => null),
});

/** How servers say that a model gives its text without times. */
const NO_TIMES = /response_format|verbose_json/i;

function inOrder(segments: readonly TranscriptSegment[]): TranscriptSegment[] {
  return [...segments].sort((one, other) => one.start - other.start);
}

/**
 * A server that transcribes in the OpenAI format. Source: platform.openai.com/docs/api-reference/audio, which
 * vLLM, speaches, LocalAI and whisper.cpp's proxies follow. The file is streamed from disk.
 */
export function createTranscriptionServer(
  dispatcher: Dispatcher,
  { baseUrl, apiKey, timeoutMs, limits }: ModelServerOptions,
): TranscriptionServer {
  const { base, headers } = openAiAddress(baseUrl, apiKey);

  const ask = async (
    { model, recording, prompt }: TranscribeCall,
    format: 'verbose_json' | 'json',
    signal: AbortSignal | undefined,
  ): Promise<Transcript> => {
    const form = new FormData();
    const bytes = await openAsBlob(recording.path, { type: recording.mimetype });
    // The client's name for the file is none of the server's business; its extension is.
    form.set('file', bytes, `recording.${recording.extension}`);
    form.set('model', model);
    form.set('response_format', format);
    if (prompt !== null) form.set('prompt', prompt);
    const answer = await openExchange({
      dispatcher,
      url: `${base}/audio/transcriptions`,
      method: 'POST',
      body: form,
      headers: { ...headers, accept: 'application/json' },
      signal,
      timeoutMs,
      limits,
    });
    const { text, segments } = readAs(Answer, await readJson(answer), 'transcript');
    return { text, segments: inOrder(segments ?? []) };
  };

  return {
    async transcribe(call, signal) {
      try {
        return await ask(call, 'verbose_json', signal);
      } catch (error) {
        const timeless =
          error instanceof ProviderFailure && error.kind === 'refused' && NO_TIMES.test(error.message);
        if (!timeless) throw error;
        return ask(call, 'json', signal);
      }
    },
  };
}
