import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Context } from '@temporalio/activity';
import { AppError } from '../../schemas/app-error.js';
import type { ErrorCode } from '../../schemas/error-table.js';
import type { IndexationConfig } from '../../schemas/models/presets.js';
import type { PictureCount, TaskFailure, TaskRecord, TaskState } from '../../schemas/documents/tasks.js';
import type { WorkerPoolName } from '../../schemas/worker-pools.js';
import { chunksBlobId } from './chunk-list.js';
import { enrichmentsOf, indexationConfigOf, wantsPictures } from './enrichment/enrichment-plan.js';
import { writePicture } from './enrichment/picture-list.js';
import { embedderOf } from './embedder-of.js';
import { cleanFileRecord } from './clean-up/clean-file-record.js';
import { endTaskRecord } from './clean-up/end-task-record.js';
import { reconcileChunks } from './clean-up/reconcile-file.js';
import { isMediaKind, kindOfMimetype, resolveFileKind } from './parsing/file-types.js';
import type { ChunkingOptions } from './parsing/chunk.js';
import type { ParsedDocument, ParseRequest, ParserPool } from './parsing/parser-pool.js';
import type { MailIds } from './parsing/parser-messages.js';
import type { Adapters } from '../ports/adapters.js';
import { UNMEASURED } from '../ports/meter.js';
import type { Meter } from '../ports/meter.js';
import { timed } from './timed.js';
import type { Publish, Published } from './publish-version.js';
import { transcribeRecording } from './transcribe-recording.js';
import type { DocumentRef } from './task-ref.js';
import { requireActive } from './task-ref.js';

export interface DocumentActivityDeps {
  adapters: Pick<
    Adapters,
    | 'files'
    | 'tasks'
    | 'quotas'
    | 'claims'
    | 'blobs'
    | 'chunks'
    | 'models'
    | 'partitions'
    | 'presets'
    | 'promptSource'
  >;
  parser: Pick<ParserPool, 'parseAndChunk'>;
  publish: Publish;
  meter?: Pick<Meter, 'stageTook' | 'parsed'>;
  settings: {
    /** For a partition whose preset is gone. */
    chunkSize: number;
    chunkOverlapRate: number;
    scratchDirectory: string;
    /** Off: the bytes of an upload go once it is indexed. */
    keepUploads: boolean;
  };
}

/** A crashed parser may be the machine's fault, three crashes are the document's. */
const PARSER_TRIES = 3;
const TOO_MUCH: ReadonlySet<ErrorCode> = new Set([
  'FILE_TOO_COMPLEX',
  'PARSE_TIMEOUT',
  'PARSER_CRASHED',
  'PARSER_INTERNAL_ERROR',
]);
/** Its name in `schemas/worker-pools.ts`. */
const PARSER_POOL: WorkerPoolName = 'MarkerPool';
/** Progress of a task whose file is read. */
const PARSED = 0.3;
const PROGRESS_EVERY_MS = 1000;
const TRACEBACK_CHARACTERS = 8000;

/** Activities of the document workflows that use records, bytes and the parser. */
export function createDocumentActivities(deps: DocumentActivityDeps) {
  const { tasks, blobs, models } = deps.adapters;
  const { keepUploads } = deps.settings;
  const { meter = UNMEASURED } = deps;

  /** The chunking options of the partition's preset. */
  const chunkingOf = (preset: IndexationConfig | undefined): Required<ChunkingOptions> => {
    const { chunkSize, chunkOverlapRate } = deps.settings;
    return {
      chunkSize: preset?.chunking.chunk_size ?? chunkSize,
      overlapRate: preset?.chunking.chunk_overlap_rate ?? chunkOverlapRate,
      // Presets of earlier releases could hold any name.
      strategy: preset?.chunking.name === 'structured_section' ? 'structured_section' : 'recursive_splitter',
    };
  };

  /** Pictures may be what makes a document too much for the parser: they are done without before it is given up. */
  const parseWithPictures = async (request: ParseRequest, directory: string): Promise<ParsedDocument> => {
    try {
      return await deps.parser.parseAndChunk({ ...request, pictures: { directory } });
    } catch (error) {
      if (!(error instanceof AppError) || !TOO_MUCH.has(error.code)) throw error;
      const { report, ...parsed } = await deps.parser.parseAndChunk(request);
      const why = 'Reading the file together with its pictures went beyond a limit.';
      const pictures = { kept: 0, left_out: 1, reasons: [why] };
      return {
        ...parsed,
        pictures: { kept: 0, leftOut: 1 },
        ...(report && { report: { ...report, pictures } }),
      };
    }
  };

  /** What is said in a recording, read as a text. */
  const parseRecording = async (
    request: ParseRequest,
    recording: Parameters<typeof transcribeRecording>[1],
    preset: IndexationConfig | undefined,
  ): Promise<ParsedDocument> => {
    const began = Date.now();
    const { path, report: said } = await transcribeRecording(
      deps.adapters,
      recording,
      preset,
      Context.current().cancellationSignal,
    );
    const {
      report,
      encoding: _,
      ...parsed
    } = await deps.parser.parseAndChunk({
      ...request,
      path,
      kind: 'txt',
    });
    if (report === undefined) return parsed;
    const warnings = [...said.warnings, ...report.warnings];
    return { ...parsed, report: { ...report, ...said, warnings, duration_ms: Date.now() - began } };
  };

  const storePictures = async (
    ref: DocumentRef,
    pictures: PictureCount,
    directory: string,
    signal: AbortSignal,
  ): Promise<void> => {
    for (let picture = 0; picture < pictures.kept; picture += 1)
      await writePicture(blobs, ref, picture, createReadStream(join(directory, String(picture))), signal);
    await tasks.noteEnrichment(ref.taskId, { pictures });
  };

  /** Pages done, as a part of the progress; a report that the store does not take is made up for by the next. */
  const progressOf = (taskId: string, attempt: number): NonNullable<ParseRequest['onProgress']> => {
    let reported = 0;
    return ({ pages }) => {
      if (pages === undefined || pages.total === 0 || Date.now() - reported < PROGRESS_EVERY_MS) return;
      reported = Date.now();
      const progress = PARSED * (pages.done / pages.total);
      void tasks.report(taskId, { stage: 'parse', progress, attempt }).catch(() => undefined);
    };
  };

  /** A mail says itself what it belongs to; a client that said something of it knows better. */
  const noteThread = async (task: TaskRecord, mail: MailIds | undefined): Promise<void> => {
    if (mail === undefined || task.relationship_id !== null || task.parent_id !== null) return;
    const relationship = { relationship_id: mail.thread, parent_id: mail.parent };
    await tasks.noteEnrichment(task.task_id, { relationship });
  };

  /**
   * Bytes → chunk list. Repeating it writes the same list again. `enrich`: the partition's preset asks for a model to
   * say something of the document before it is embedded.
   */
  const parseDocument = async (ref: DocumentRef): Promise<{ chunkCount: number; enrich?: true }> => {
    const signal = Context.current().cancellationSignal;
    const attempt = Context.current().info.attempt;
    const task = requireActive(await tasks.begin(ref.taskId, { stage: 'parse', progress: 0, attempt }));
    const directory = await mkdtemp(join(deps.settings.scratchDirectory, 'document-'));
    try {
      // The gateway has chosen, and put down the type that it chose.
      const kind =
        kindOfMimetype(task.upload.mimetype) ?? resolveFileKind({ filename: task.upload.filename });
      // Some readers choose by the file's extension.
      const path = join(directory, `upload.${kind}`);
      await pipeline(await blobs.read(task.upload.upload_id), createWriteStream(path), { signal });
      const partition = await deps.adapters.partitions.get(task.partition);
      const { maxInputTokens } = await models.embedder(embedderOf(task, partition));
      const preset = await indexationConfigOf(deps.adapters, task.partition);
      const wanted = chunkingOf(preset);
      const request: ParseRequest = {
        path,
        kind,
        filename: task.upload.filename,
        chunking: {
          // Three quarters of the embedder's window: token counts of two tokenisers differ.
          chunkSize: Math.min(wanted.chunkSize, Math.floor((maxInputTokens ?? Infinity) * 0.75)),
          overlapRate: wanted.overlapRate,
          strategy: wanted.strategy,
        },
        outputPath: join(directory, 'chunks.jsonl'),
        signal,
        userId: task.user_id,
        onProgress: progressOf(ref.taskId, attempt),
      };
      const pictureDirectory = join(directory, 'pictures');
      const parsed = await timed(meter, 'parse', () => {
        if (isMediaKind(kind)) return parseRecording(request, { path, kind, directory }, preset);
        return wantsPictures(preset, kind)
          ? parseWithPictures(request, pictureDirectory)
          : deps.parser.parseAndChunk(request);
      });
      meter.parsed(PARSER_POOL);
      if (parsed.report) await tasks.noteEnrichment(ref.taskId, { parseReport: parsed.report });
      await noteThread(task, parsed.mail);
      if (parsed.chunkCount === 0) throw new AppError('NO_INDEXABLE_CONTENT');
      await tasks.report(ref.taskId, { stage: 'chunk', progress: PARSED });
      const blobId = chunksBlobId(ref.taskId);
      await timed(meter, 'chunk', () =>
        blobs.write(
          { blobId, kind: 'chunks', taskId: ref.taskId, fileKey: ref.fileKey, generation: ref.generation },
          createReadStream(join(directory, 'chunks.jsonl')),
          signal,
        ),
      );
      if (parsed.pictures) await storePictures(ref, parsed.pictures, pictureDirectory, signal);
      const enriched = enrichmentsOf(preset, parsed.pictures).length > 0;
      return { chunkCount: parsed.chunkCount, ...(enriched ? { enrich: true } : {}) };
    } catch (error) {
      if (error instanceof AppError && error.code === 'PARSER_CRASHED' && attempt >= PARSER_TRIES)
        throw new AppError(
          'FILE_CORRUPT',
          `The program that reads this type of file stopped on it ${attempt} times. Saving the file anew in the program it comes from may help.`,
          { cause: error, details: error.details },
        );
      throw error;
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  };

  /**
   * Makes the new version the visible one; see `createPublisher`. Repeating it is harmless.
   * @throws AppError SUPERSEDED when another task has the file by now
   */
  const publishDocument = (ref: DocumentRef, chunkCount: number): Promise<Published> =>
    deps.publish(ref, chunkCount, { signal: Context.current().cancellationSignal });

  /** Ends a task that did not succeed and lets go of its file. Answers the state that the task ended in. */
  const endTask = async (ref: DocumentRef, failure: TaskFailure): Promise<TaskState> => {
    const cancelled = failure.code === 'TASK_CANCELLED' || failure.code === 'SUPERSEDED';
    await endTaskRecord(deps.adapters, ref, cancelled ? 'CANCELLED' : 'FAILED', {
      ...failure,
      traceback: capped(failure.traceback),
    });
    return (await tasks.get(ref.taskId))?.state ?? 'CANCELLED';
  };

  /** Removes everything of a file that its record does not keep. */
  const cleanFile = (fileKey: string): Promise<void> =>
    cleanFileRecord(deps.adapters, fileKey, { keepUploads });

  /** What the chunks say of their file follows a change of its record. */
  const reconcileFileChunks = (fileKey: string, token: string): Promise<void> =>
    reconcileChunks(deps.adapters, fileKey, [token], Context.current().cancellationSignal);

  return { parseDocument, publishDocument, endTask, cleanFile, settleFileChunks: reconcileFileChunks };
}

export type DocumentActivities = ReturnType<typeof createDocumentActivities>;

function capped(lines: readonly string[]): string[] {
  return lines.join('\n').slice(0, TRACEBACK_CHARACTERS).split('\n');
}
