import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** A reader sees the old file or the new one, never a half; `mode` holds from the first byte on. */
export function writeAtomically(file: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, text, { mode });
  chmodSync(draft, mode); // the umask may have taken bits away, or an old draft may have had more
  renameSync(draft, file);
}
