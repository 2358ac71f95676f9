import { Readable } from 'node:stream';
import type { Received, UploadName } from './received-upload.js';
import { kindOfMimetype, resolveFileKind } from '../parsing/file-types.js';
import type { FileKind } from '../parsing/file-types.js';
import type { Download, Downloads } from '../../ports/downloads.js';
import type { BlobStore } from '../../ports/files.js';

export interface DownloadOptions {
  blobs: BlobStore;
  downloads: Pick<Downloads, 'open'>;
  upload: UploadName;
  url: string;
  maxBytes: number;
  timeoutMs: number;
  signal: AbortSignal;
  /** The text fields that a form would have beside the file. */
  fields: Readonly<Record<string, string>>;
  /** Told with each part that came; `total` is what the answer announced. */
  onProgress(bytes: number, total: number | null): void;
}

/** A page without a name: that of a site's root. */
const UNNAMED = 'index';

function kindOfName(filename: string): FileKind | null {
  try {
    return resolveFileKind({ filename });
  } catch {
    return null;
  }
}

/**
 * The name that a download is stored under; its extension says how it is read. An address may have none that is known,
 * or one of the program that wrote the page (`.php`): then the type that the answer names decides.
 */
function nameOf({ name, mimetype }: Pick<Download, 'name' | 'mimetype'>): string {
  const given = name.trim() === '' ? UNNAMED : name;
  const byName = kindOfName(given);
  const byType = kindOfMimetype(mimetype) ?? null;
  if (byType === null || byType === 'code') return given;
  const isProgram = byName === 'code' && byType !== 'txt';
  return byName === null || isProgram ? `${given}.${byType}` : given;
}

async function* counted(download: Download, told: DownloadOptions['onProgress']): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const part of download.body as AsyncIterable<Buffer>) {
    bytes += part.length;
    told(bytes, download.size);
    yield part;
  }
}

/**
 * Fetches a document from an address into the blob store. When this throws, nothing is left there.
 * @throws AppError as `Downloads.open`; the blob store's own
 */
export async function receiveDownload(options: DownloadOptions): Promise<Received> {
  const { blobs, downloads, fields } = options;
  const { blobId, fileKey, generation } = options.upload;
  const download = await downloads.open(options.url, options);
  const originalName = nameOf(download);
  const discard = (): Promise<void> => blobs.remove(blobId);
  const owner = { blobId, kind: 'upload', fileKey, generation, taskId: blobId } as const;
  const source = Readable.from(counted(download, options.onProgress), { objectMode: false });
  try {
    const { size, sha256 } = await blobs.write(owner, source, options.signal);
    const file = { originalName, mimetype: download.mimetype ?? '', size, sha256 };
    return { file, fields, discard, filename: originalName, fault: null };
  } catch (error) {
    download.body.destroy();
    await discard();
    throw error;
  }
}
