import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import yauzl from 'yauzl';

/** Unpacks an archive (a zip, a jar, a wheel) into a folder, and refuses one that reaches out of it. */
export async function unzip(file: string, folder: string): Promise<void> {
  const zip = await yauzl.openPromise(file, { lazyEntries: true });
  for await (const entry of zip.eachEntry()) {
    const target = resolve(folder, entry.fileName);
    if (!target.startsWith(folder + sep))
      throw new Error(`${file} reaches out of its folder: ${entry.fileName}`);
    if (entry.fileName.endsWith('/')) continue;
    mkdirSync(dirname(target), { recursive: true });
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target));
  }
}
