import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../schemas/app-error.js';
import type { ParseReport } from '../../schemas/documents/parse-report.js';
import type { IndexationConfig } from '../../schemas/models/presets.js';
import { BUNDLED_PROMPTS } from '../models/seeds/bundled-prompts.js';
import type { Adapters } from '../ports/adapters.js';
import { mimetypeOfKind } from './parsing/file-types.js';
import type { MediaKind } from './parsing/file-types.js';
import { transcriptText } from './transcript-text.js';

export interface TranscribedRecording {
  /** Plain text in UTF-8, in the directory that was given. */
  path: string;
  /** What the parse report says in place of what the reader of the text would. */
  report: Pick<ParseReport, 'parser' | 'parser_version' | 'encoding'> & { warnings: string[] };
}

/**
 * Has the transcription model of a preset, or the default one, write down what is said in a recording.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE when no model is registered any more; as `Transcriber`
 */
export async function transcribeRecording(
  { models, promptSource }: Pick<Adapters, 'models' | 'promptSource'>,
  recording: { path: string; kind: MediaKind; directory: string },
  config: IndexationConfig | undefined,
  signal: AbortSignal,
): Promise<TranscribedRecording> {
  const { path, kind, directory } = recording;
  const model = await models.transcriber(config?.stt ?? undefined);
  if (model === null)
    throw new AppError(
      'UNSUPPORTED_MEDIA_TYPE',
      'No transcription model is registered any more: a model endpoint of type stt reads audio and video.',
    );
  const prompt = await promptSource.text('asr_transcription', config?.asr_transcription_prompt_name);
  const transcript = await model.transcribe(
    { path, extension: kind, mimetype: mimetypeOfKind(kind) },
    // The bundled text is an instruction; speech models take a prompt for words that were said before.
    { prompt: prompt === BUNDLED_PROMPTS.asr_transcription ? null : prompt, signal },
  );
  const textPath = join(directory, 'transcript.txt');
  await writeFile(textPath, transcriptText(transcript));
  const timeless = transcript.segments.length === 0 && transcript.text.trim() !== '';
  return {
    path: textPath,
    report: {
      parser: 'transcription',
      parser_version: model.modelName,
      encoding: null,
      warnings: timeless ? ['The model gave no times: passages do not say where they are said.'] : [],
    },
  };
}
