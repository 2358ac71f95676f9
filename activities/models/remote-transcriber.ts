import type { Transcriber } from '../ports/models.js';
import type { ResilientCalls } from './resilience.js';
import { providerError } from './servers/provider-failure.js';
import type { TranscriptionServer } from './servers/transcription-server.js';

/** A model on a server that writes down what is said in a recording. */
export function createRemoteTranscriber(options: {
  endpointName: string;
  modelName: string;
  server: TranscriptionServer;
  calls: ResilientCalls;
}): Transcriber {
  const { endpointName, modelName, server, calls } = options;
  return {
    endpointName,
    modelName,
    async transcribe(recording, { prompt, signal }) {
      try {
        const call = { model: modelName, recording, prompt };
        return await calls.run(() => server.transcribe(call, signal), signal);
      } catch (error) {
        throw providerError(error, 'transcription', endpointName);
      }
    },
  };
}
