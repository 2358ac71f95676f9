import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import yauzl from 'yauzl';
import type { Entry, ZipFile } from 'yauzl';
import { openFileBytes } from './random-access-bytes.js';
import type { RandomAccessBytes } from './random-access-bytes.js';

const READ_AHEAD = 64 * 1024;

/** yauzl reads a directory in steps of some 46 bytes; one step must not be one query to the store. */
class BufferedReader extends yauzl.RandomAccessReader {
  private block: { start: number; bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };

  constructor(private readonly source: RandomAccessBytes) {
    super();
  }

  override _readStreamForRange(start: number, end: number): Readable {
    const out = new PassThrough();
    this.copy(out, start, end).catch((error: unknown) => out.destroy(error as Error));
    return out;
  }

  private async copy(out: PassThrough, start: number, end: number): Promise<void> {
    for (let at = start; at < end && !out.destroyed;) {
      const bytes = await this.from(at, end);
      if (bytes.length === 0) throw new Error('unexpected end of the archive');
      at += bytes.length;
      if (!out.write(bytes)) await new Promise<void>((done) => out.once('drain', done).once('close', done));
    }
    out.end();
  }

  private async from(at: number, end: number): Promise<Buffer> {
    const offset = at - this.block.start;
    if (offset < 0 || offset >= this.block.bytes.length) {
      const bytes = await this.source.read(at, Math.min(this.source.size, at + READ_AHEAD));
      this.block = { start: at, bytes };
      return bytes.subarray(0, end - at);
    }
    return this.block.bytes.subarray(offset, offset + end - at);
  }
}

/**
 * Opens a zip package; the caller closes it. Rejects when the bytes are no zip.
 * @param options.rawNames names are given as bytes and not checked: for callers that use them as labels only
 */
export function openZip(source: RandomAccessBytes, { rawNames = false } = {}): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    const options = { lazyEntries: true, autoClose: false, decodeStrings: !rawNames };
    yauzl.fromRandomAccessReader(new BufferedReader(source), source.size, options, (error, zip) =>
      error ? reject(error) : resolve(zip),
    );
  });
}

/** What `use` makes of a zip package, which is open meanwhile. Rejects when the file is none. */
export async function withZipFile<T>(path: string, use: (zip: ZipFile) => Promise<T>): Promise<T> {
  const file = await openFileBytes(path);
  try {
    const zip = await openZip(file);
    try {
      return await use(zip);
    } finally {
      zip.close();
    }
  } finally {
    await file.close();
  }
}

/** Walks the directory of a zip package until its end or until `visit` answers false. Rejects on a damaged one. */
export function walkZipEntries(
  zip: ZipFile,
  visit: (entry: Entry) => boolean | Promise<boolean>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    zip.on('error', reject);
    zip.on('end', resolve);
    zip.on('entry', (entry: Entry) => {
      // What `visit` throws is a rejection as well.
      new Promise<boolean>((done) => done(visit(entry))).then(
        (more) => (more ? zip.readEntry() : resolve()),
        reject,
      );
    });
    zip.readEntry();
  });
}

/** The text of an entry, up to so many bytes. */
export function readZipText(zip: ZipFile, entry: Entry, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error) return reject(error);
      const parts: Buffer[] = [];
      let length = 0;
      stream.on('data', (part: Buffer) => {
        length += part.length;
        if (length <= maxBytes) parts.push(part);
        else stream.destroy(new Error('a list of the package is too long'));
      });
      stream.on('error', reject).on('end', () => resolve(Buffer.concat(parts).toString('utf8')));
    });
  });
}
