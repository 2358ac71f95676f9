import type { EventEmitter } from 'node:events';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createWorker, OEM } from 'tesseract.js';
import type { Worker } from 'tesseract.js';
import { AppError } from '../../../../schemas/app-error.js';
import { languageData, missingLanguages } from './language-data.js';
import { orientationOf, withOrientationInFront } from './orientation.js';
import type { Recognised } from './recognised.js';
import { recogniseByProgram, tesseractFor } from './tesseract-program.js';

interface Engine {
  languages: string;
  recognise(image: Buffer): Promise<Recognised>;
  close(): Promise<void>;
}

/** One a parser process: its start takes longer than a page, and pages come one after the other. */
let engine: Engine | null = null;

const DAMAGED = 'The picture is damaged and cannot be read.';

/**
 * Reads the text of a picture (PNG, JPEG, GIF, WebP, BMP, TIFF): by the program `tesseract` where it is on PATH with
 * the languages' data, else, and what it cannot read, by tesseract.js. A photo that is to be turned goes to
 * tesseract.js first, which does that.
 * @param options `scratch`: a directory that the caller removes
 * @throws AppError FILE_CORRUPT for what is no such picture; UNSUPPORTED_CONTENT without the languages' data
 */
export async function recognise(
  image: Buffer,
  options: { languages: readonly string[]; scratch: string },
): Promise<Recognised> {
  const { languages } = options;
  const orientation = orientationOf(image);
  if (orientation !== 1) return recogniseTurned(image, orientation, options);
  const program = tesseractFor(languages);
  if (program === null) return recogniseInThread(image, options);
  const found = await recogniseByProgram(program, image, languages);
  if (found !== null) return found;
  if (missingLanguages(languages).length > 0) throw new AppError('FILE_CORRUPT', DAMAGED);
  return recogniseInThread(image, options);
}

/** A photo that is to be turned. The program reads the rows as they are stored: it is asked last. */
async function recogniseTurned(
  image: Buffer,
  orientation: number,
  options: { languages: readonly string[]; scratch: string },
): Promise<Recognised> {
  const { languages } = options;
  const program = tesseractFor(languages);
  if (program === null || missingLanguages(languages).length === 0)
    try {
      return await recogniseInThread(withOrientationInFront(image, orientation), options);
    } catch (error) {
      const isDamaged = error instanceof AppError && error.code === 'FILE_CORRUPT';
      if (program === null || !isDamaged) throw error;
    }
  const found = await recogniseByProgram(program, image, languages);
  if (found === null) throw new AppError('FILE_CORRUPT', DAMAGED);
  return { ...found, unturned: true };
}

/**
 * By tesseract.js. Runs in a thread of the parser process and ends with it, so that a cancelled or hanging OCR is gone
 * when the pool kills the process.
 */
async function recogniseInThread(
  image: Buffer,
  { languages, scratch }: { languages: readonly string[]; scratch: string },
): Promise<Recognised> {
  const wanted = languages.join('+');
  if (engine !== null && engine.languages !== wanted) {
    await engine.close();
    engine = null;
  }
  engine ??= await startEngine(languages, scratch);
  try {
    return await engine.recognise(image);
  } catch (error) {
    // After a failure its memory is in no known state.
    await engine.close();
    engine = null;
    throw new AppError('FILE_CORRUPT', DAMAGED, { cause: error });
  }
}

async function startEngine(languages: readonly string[], scratch: string): Promise<Engine> {
  // tesseract.js looks for all of them in one folder. Should we be killed, it goes with the document's.
  const folder = await mkdtemp(join(scratch, 'ocr-'));
  try {
    for (const language of languages) {
      const data = languageData(language);
      if (data === null)
        throw new AppError(
          'UNSUPPORTED_CONTENT',
          `The data of OCR for the language '${language}' are not installed on this server.`,
        );
      await symlink(data, join(folder, basename(data)));
    }
    const failures = createFailures();
    const worker = await failures.orFail(
      createWorker([...languages], OEM.LSTM_ONLY, {
        langPath: folder,
        cacheMethod: 'none',
        gzip: true,
        errorHandler: failures.tell,
      }),
    );
    failures.watch(worker);
    return {
      languages: languages.join('+'),
      async recognise(image) {
        const { data } = await failures.orFail(worker.recognize(image, {}, { text: true }));
        return { text: data.text.trim(), confidence: data.confidence / 100 };
      },
      async close() {
        await worker.terminate();
      },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** tesseract.js reports some failures to a listener alone, and leaves its promise open. */
function createFailures(): {
  tell: (error: unknown) => void;
  watch(worker: Worker): void;
  orFail<T>(work: Promise<T>): Promise<T>;
} {
  let fail: ((error: Error) => void) | null = null;
  const tell = (error: unknown): void =>
    fail?.(error instanceof Error ? error : new Error(`OCR failed: ${String(error)}`));
  return {
    tell,
    // In Node it has its thread, which its type does not say.
    watch: (worker) => void (worker as unknown as { worker: EventEmitter }).worker.on('error', tell),
    async orFail(work) {
      const failure = new Promise<never>((_, reject) => (fail = reject));
      try {
        return await Promise.race([work, failure]);
      } finally {
        fail = null;
      }
    },
  };
}
