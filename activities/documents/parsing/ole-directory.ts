import type { RandomAccessBytes } from './random-access-bytes.js';

/** Of Office 97 to 2003, and of packages of today that have a password. */
const SIGNATURE = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const END_OF_CHAIN = 0xfffffffa;
const ENTRY = 128;
/** Office writes some ten entries for a package with a password. */
const MAX_SECTORS = 64;

/** Whether a file that begins with these bytes is an OLE container. */
export function isOleHead(bytes: Buffer): boolean {
  return bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE);
}

/**
 * The names of what an OLE container holds (MS-CFB, section 2.6), of its first entries; null when it is none.
 */
export async function oleEntryNames(source: RandomAccessBytes): Promise<string[] | null> {
  if (source.size < 512) return null;
  const header = await source.read(0, 512);
  if (!isOleHead(header)) return null;
  const sectorSize = header.readUInt16LE(30) === 12 ? 4096 : 512;
  const offsetOf = (sector: number): number => (sector + 1) * sectorSize;
  const readAt = async (offset: number, length: number): Promise<Buffer | null> =>
    offset + length <= source.size ? source.read(offset, offset + length) : null;
  const names: string[] = [];
  let sector = header.readUInt32LE(48);
  for (let read = 0; read < MAX_SECTORS && sector < END_OF_CHAIN; read++) {
    const entries = await readAt(offsetOf(sector), sectorSize);
    if (entries === null) break;
    for (let at = 0; at < sectorSize; at += ENTRY) {
      const length = Math.min(64, entries.readUInt16LE(at + 64));
      if (length > 2) names.push(entries.toString('utf16le', at, at + length - 2));
    }
    // The header lists the first 109 sectors of the table that chains the others.
    const perSector = sectorSize / 4;
    const table = Math.floor(sector / perSector);
    if (table >= 109) break;
    const next = await readAt(offsetOf(header.readUInt32LE(76 + table * 4)) + (sector % perSector) * 4, 4);
    if (next === null) break;
    sector = next.readUInt32LE(0);
  }
  return names;
}
