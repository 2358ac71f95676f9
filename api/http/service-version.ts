import { readFileSync } from 'node:fs';

function read(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Our release, as package.json says it. */
export const serviceVersion: string = read();

/** The release of the peer service whose wire contract we speak. */
export const API_VERSION = '2.3';
