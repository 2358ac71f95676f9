import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { storableText } from '../../../text/clean-text.js';
import type { TakenAttachment } from '../parser-messages.js';

/** Of one mail: each is a task of its own. */
export const MAX_ATTACHMENT_FILES = 100;
const MAX_NAME = 1000;

/** Takes the attachments of a mail that are to be files of their own. */
export interface AttachmentCollector {
  /** No more are taken. */
  readonly full: boolean;
  /**
   * Writes one down. What it throws is what `write` throws.
   * @returns its bytes
   */
  take(
    attachment: { name: string; mimetype: string; write(path: string, most: number): Promise<number> },
    most: number,
  ): Promise<number>;
  /** Those taken: files `0`, `1`, … of the directory, in this order. */
  list(): TakenAttachment[];
}

export function createAttachmentCollector(directory: string): AttachmentCollector {
  const taken: TakenAttachment[] = [];
  return {
    get full() {
      return taken.length >= MAX_ATTACHMENT_FILES;
    },
    async take({ name, mimetype, write }, most) {
      if (taken.length === 0) await mkdir(directory, { recursive: true });
      // The name is none that the mail has a say in.
      const size = await write(join(directory, String(taken.length)), most);
      taken.push({ name: storableText(name.slice(-MAX_NAME)), mimetype, size });
      return size;
    },
    list: () => [...taken],
  };
}
