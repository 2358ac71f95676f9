import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** Larger bodies are compressed, as a LAPI of 1.7 does it (wire contract, 6.1). */
export const GZIP_ABOVE = 5 * 1024;

export const zipped = promisify<Buffer, Buffer>(gzip);
