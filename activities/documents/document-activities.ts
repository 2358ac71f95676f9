import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Context } from '@temporalio/activity';
import { AppError } from '../../schemas/app-error.js';
import type { ErrorCode } from '../../schemas/error-table.js';
import type { IndexationConfig } from '../../schemas/models/presets.js';
import type { PictureCount, TaskFailure, TaskRecord, TaskState } from '../../schemas/documents/tasks.js';
import type { Chunk } from '../../schemas/documents/documents.js';
import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type { WorkerPoolName } from '../../schemas/worker-pools.js';
import { attachFiles, reportAttached, wantsAttachments } from './commands/attach-files.js';
import { chunksBlobId } from './chunk-list.js';
import { enrichmentsOf, presetOf, wantsPictures } from './enrichment/enrichment-plan.js';
import { writePicture } from './enrichment/picture-list.js';
import { embedderOf } from './embedder-of.js';
import { placeOf } from './place-of.js';
import { cleanFileRecord } from './clean-up/clean-file-record.js';
import { endTaskRecord } from './clean-up/end-task-record.js';
import { settleChunks } from './clean-up/settle-file.js';
import { isMediaKind, kindOfMimetype, resolveFileKind } from './parsing/file-types.js';
import type { ChunkingOptions } from './parsing/chunk.js';
import type { ParsedDocument, ParseRequest, ParserPool } from './parsing/parser-pool.js';
import { readChunkFile } from './parsing/chunk-file.js';
import type { Embedder } from '../ports/models.js';
import type { ReadingFacts } from '../ports/tasks.js';
import type { Advanced, IndexAtOnce } from './index-at-once.js';
import type { Adapters } from '../ports/adapters.js';
import { UNMEASURED } from '../ports/meter.js';
import type { Meter } from '../ports/meter.js';
import { timed } from './timed.js';
import type { Publish, Published } from './publish-version.js';
import { transcribeRecording } from './transcribe-recording.js';
import type { DocumentRef } from './task-ref.js';
import { requireActive } from './task-ref.js';
import { fileOf } from './commands/file-of.js';
import { ACTIVITY_WARNINGS } from '../temporal/activity-warnings.js';

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
    | 'users'
    | 'callbacks'
    | 'counters'
  >;
  parser: Pick<ParserPool, 'parseAndChunk'>;
  publish: Publish;
  indexAtOnce: IndexAtOnce;
  meter?: Pick<Meter, 'stageTook' | 'parsed'>;
  settings: {
    /** For a partition whose preset is gone. */
    chunkSize: number;
    chunkOverlapRate: number;
    scratchDirectory: string;
    /** Off: the bytes of an upload go once it is indexed. */
    keepUploads: boolean;
    /** For attachments that become files: how many files a user may have, and what the server can read. */
    defaultFileQuota: number;
    ocrLanguages: readonly string[];
  };
}

/** A crashed parser may be the machine's fault, three crashes are the document's. */
const MAX_CRASHES = 3;
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
/** A document of so few chunks goes on at once. */
const FEW_CHUNKS = 16;
const NOT_BEGUN: Advanced = { stored: false };
/** Below the directory of an upload. */
const PICTURES = 'pictures';
const ATTACHMENTS = 'attachments';
/** What took longer to read is put down first, so that no later failure has it read again. */
const QUICKLY_READ_MS = 2000;
const TRACEBACK_CHARACTERS = 8000;

/** What became of a document that was read: see `parseDocument`. */
interface Parsed extends Partial<Advanced> {
  chunkCount: number;
  enrich?: true;
  /** Tasks for its attachments may wait to be started. */
  attached?: true;
}

/** An upload that was read, and what it was read with. */
interface ReadUpload {
  task: TaskRecord;
  parsed: ParsedDocument;
  partition: PartitionRecord | null;
  embedder: Embedder;
  /** A model is to say something of it. */
  isEnriched: boolean;
  isQuick: boolean;
  /** There are files of its attachments, whose tasks may wait to be started. */
  hasAttached: boolean;
}

/** What its task notes. A mail says itself what it belongs to; a client that said something of it knows better. */
function readingFacts(task: TaskRecord, { report, mail, attachments }: ParsedDocument): ReadingFacts {
  const isOpen = task.relationship_id === null && task.parent_id === null;
  // One that has no id of its own is related to its attachments all the same.
  const alone = attachments?.length ? { thread: task.file_id, parent: null } : undefined;
  const place = mail ?? alone;
  return {
    ...(report && { parseReport: report }),
    ...(place && isOpen && { relationship: { relationship_id: place.thread, parent_id: place.parent } }),
  };
}

/** A parser that stops again and again is stopped by the document. */
function damageOf(crash: AppError, crashes: number): AppError {
  if (crashes < MAX_CRASHES) return crash;
  return new AppError(
    'FILE_CORRUPT',
    `The program that reads this type of file stopped on it ${crashes} times. Saving the file anew in the program it comes from may help.`,
    { cause: crash, details: crash.details },
  );
}

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

  /** Goes on with what was just read, where that is little; the rest is left to the steps to come. */
  const goOnAtOnce = async (ref: DocumentRef, read: ReadUpload): Promise<Advanced> => {
    const { task, parsed, partition, embedder, isEnriched, isQuick } = read;
    if (!isQuick || isEnriched || parsed.pictures !== undefined) return NOT_BEGUN;
    if (parsed.chunkCount === 0 || parsed.chunkCount > FEW_CHUNKS) return NOT_BEGUN;
    // A swap was made since it was admitted: the step that embeds knows what follows.
    if (partition?.embedder !== task.embedder) return NOT_BEGUN;
    const { cancellationSignal: signal } = Context.current();
    const chunks: Chunk[] = [];
    for await (const chunk of readChunkFile(parsed.outputPath)) chunks.push(chunk);
    const facts = readingFacts(task, parsed);
    const known: TaskRecord = {
      ...task,
      ...facts.relationship,
      ...(facts.parseReport && { parse_report: facts.parseReport }),
    };
    return deps.indexAtOnce({
      ref,
      task: known,
      facts,
      partition,
      chunks,
      embedder,
      attempt: task.attempt,
      signal,
    });
  };

  /** Admits what was taken out of a mail, and has its report say so. */
  const attach = async (read: {
    task: TaskRecord;
    parsed: ParsedDocument;
    preset: IndexationConfig | undefined;
    directory: string;
  }): Promise<Pick<ReadUpload, 'parsed' | 'hasAttached'>> => {
    const { task, parsed, preset } = read;
    const { attachments = [], report } = parsed;
    if (attachments.length === 0) return { parsed, hasAttached: false };
    const { defaultFileQuota, ocrLanguages } = deps.settings;
    const relationship = readingFacts(task, parsed).relationship ?? task;
    const attached = await attachFiles(
      {
        ...deps.adapters,
        defaultFileQuota,
        ocrLanguages,
        log: ACTIVITY_WARNINGS,
      },
      {
        task,
        relationshipId: relationship.relationship_id ?? task.file_id,
        attachments,
        directory: join(read.directory, ATTACHMENTS),
        preset,
        signal: Context.current().cancellationSignal,
      },
    );
    const told = report && { report: reportAttached(report, attached) };
    const hasAttached = attached.attachments.some(({ file_id: fileId }) => fileId !== null);
    return { parsed: { ...parsed, ...told }, hasAttached };
  };

  /** Brings the upload's bytes into a file and has them read, as the preset of its partition says. */
  const readUpload = async (ref: DocumentRef, task: TaskRecord, directory: string): Promise<ReadUpload> => {
    const { cancellationSignal: signal } = Context.current();
    // The gateway has chosen, and put down the type that it chose.
    const kind = kindOfMimetype(task.upload.mimetype) ?? resolveFileKind({ filename: task.upload.filename });
    // Some readers choose by the file's extension.
    const path = join(directory, `upload.${kind}`);
    await pipeline(await blobs.read(task.upload.upload_id), createWriteStream(path), { signal });
    const partition = await placeOf(deps.adapters, task);
    const embedder = await models.embedder(embedderOf(task, partition));
    const preset = await presetOf(deps.adapters, partition);
    const wanted = chunkingOf(preset);
    const request: ParseRequest = {
      path,
      kind,
      filename: task.upload.filename,
      chunking: {
        // Three quarters of the embedder's window: token counts of two tokenisers differ.
        chunkSize: Math.min(wanted.chunkSize, Math.floor((embedder.maxInputTokens ?? Infinity) * 0.75)),
        overlapRate: wanted.overlapRate,
        strategy: wanted.strategy,
      },
      outputPath: join(directory, 'chunks.jsonl'),
      signal,
      userId: task.user_id,
      onProgress: progressOf(ref.taskId, task.attempt),
      ...(wantsAttachments(preset, kind, task) && {
        attachments: { directory: join(directory, ATTACHMENTS) },
      }),
      ...(preset?.ocr_languages ? { limits: { ocrLanguages: preset.ocr_languages.split('+') } } : {}),
    };
    const began = performance.now();
    const parsed = await timed(meter, 'parse', () => {
      if (isMediaKind(kind)) return parseRecording(request, { path, kind, directory }, preset);
      return wantsPictures(preset, kind)
        ? parseWithPictures(request, join(directory, PICTURES))
        : deps.parser.parseAndChunk(request);
    });
    meter.parsed(PARSER_POOL);
    const isEnriched = enrichmentsOf(preset, parsed.pictures).length > 0;
    const isQuick = performance.now() - began < QUICKLY_READ_MS;
    const attached = await attach({ task, parsed, preset, directory });
    return { task, ...attached, partition, embedder, isEnriched, isQuick };
  };

  const noteFacts = async (task: TaskRecord, parsed: ParsedDocument): Promise<void> => {
    const facts = readingFacts(task, parsed);
    if (Object.keys(facts).length > 0) await tasks.noteEnrichment(task.task_id, facts);
  };

  /** The list of chunks, and the pictures, for the steps to come. */
  const putDown = async (ref: DocumentRef, parsed: ParsedDocument, directory: string): Promise<void> => {
    const { cancellationSignal: signal } = Context.current();
    await tasks.report(ref.taskId, { stage: 'chunk', progress: PARSED });
    const blobId = chunksBlobId(ref.taskId);
    await timed(meter, 'chunk', () =>
      blobs.write(
        { blobId, kind: 'chunks', taskId: ref.taskId, fileKey: ref.fileKey, generation: ref.generation },
        createReadStream(parsed.outputPath),
        signal,
      ),
    );
    if (parsed.pictures) await storePictures(ref, parsed.pictures, join(directory, PICTURES), signal);
  };

  /** What an attempt before this one came to, which died before it could say so; null: it did not get through. */
  const wentThrough = async ({ taskId, fileKey }: DocumentRef): Promise<Parsed | null> => {
    if ((await tasks.get(taskId))?.state !== 'COMPLETED') return null;
    const live = (await fileOf(deps.adapters.files, fileKey))?.live;
    return { chunkCount: live?.chunk_count ?? 0, stored: true, published: { replaced: true } };
  };

  /** Crashes are counted by themselves: an attempt also ends by a worker that is restarted or a store that is away. */
  const countedCrash = async (task: TaskRecord, error: unknown): Promise<unknown> => {
    if (!(error instanceof AppError) || error.code !== 'PARSER_CRASHED') return error;
    const crashes = (task.parser_crashes ?? 0) + 1;
    await tasks.report(task.task_id, { parser_crashes: crashes });
    return damageOf(error, crashes);
  };

  /**
   * Bytes → chunk list. Repeating it writes the same list again. `enrich`: the partition's preset asks for a model to
   * say something of the document before it is embedded.
   *
   * @param options.goOn a small document that was read quickly is embedded, stored and published as well, as far as
   *   that succeeds at once; `stored` and `published` say how far
   */
  const parseDocument = async (
    ref: DocumentRef,
    { goOn = false }: { goOn?: boolean } = {},
  ): Promise<Parsed> => {
    const { info } = Context.current();
    const begun = await tasks.begin(ref.taskId, { stage: 'parse', progress: 0, attempt: info.attempt });
    const before = begun === null && goOn ? await wentThrough(ref) : null;
    if (before !== null) return before;
    const task = requireActive(begun);
    const directory = await mkdtemp(join(deps.settings.scratchDirectory, 'document-'));
    try {
      const read = await readUpload(ref, task, directory);
      const { parsed, isEnriched, hasAttached } = read;
      const { chunkCount } = parsed;
      const known: Parsed = { chunkCount, ...(hasAttached ? { attached: true } : {}) };
      const done = goOn ? await goOnAtOnce(ref, read) : NOT_BEGUN;
      if (done.published !== undefined) return { ...known, ...done };
      await noteFacts(task, parsed);
      if (done.stored) return { ...known, stored: true };
      if (chunkCount === 0) throw new AppError('NO_INDEXABLE_CONTENT');
      await putDown(ref, parsed, directory);
      return { ...known, ...(isEnriched ? { enrich: true } : {}) };
    } catch (error) {
      throw await countedCrash(task, error);
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
  const settleFileChunks = (fileKey: string, token: string): Promise<void> =>
    settleChunks(deps.adapters, fileKey, [token], Context.current().cancellationSignal);

  return { parseDocument, publishDocument, endTask, cleanFile, settleFileChunks };
}

export type DocumentActivities = ReturnType<typeof createDocumentActivities>;

function capped(lines: readonly string[]): string[] {
  return lines.join('\n').slice(0, TRACEBACK_CHARACTERS).split('\n');
}
