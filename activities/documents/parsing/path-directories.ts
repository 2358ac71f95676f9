import { delimiter } from 'node:path';

/** Where programs are looked for, at this moment. */
export function pathDirectories(): string[] {
  // eslint-disable-next-line no-restricted-properties -- where programs are, which is no setting of this service
  return (process.env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
}
