// @ts-expect-error -- the package has no types for it
import { openArrayBuffer } from 'mammoth/lib/zipfile.js';
import type { ParseNotes } from '../parse-notes.js';
import { replaceElements } from '../word-package.js';

/** Body, and headers and footers. */
const PARTS = ['content.xml', 'styles.xml'];
const CHANGES = 'text:tracked-changes';

interface Package {
  exists(name: string): boolean;
  read(name: string, encoding: string): Promise<string>;
  write(name: string, content: string): void;
  toArrayBuffer(): Promise<ArrayBuffer>;
}

/**
 * A document of OpenDocument without what was deleted from it while changes were recorded: that stands in front of the
 * text, in paragraphs like any other, and is not shown.
 */
export async function withoutTrackedChanges(bytes: Buffer, notes: ParseNotes): Promise<Buffer> {
  const parts = await (openArrayBuffer as (bytes: Buffer) => Promise<Package>)(bytes);
  let changed = false;
  for (const name of PARTS) {
    if (!parts.exists(name)) continue;
    const xml = await parts.read(name, 'utf-8');
    if (!xml.includes(`<${CHANGES}`)) continue;
    changed = true;
    parts.write(
      name,
      replaceElements(xml, CHANGES, (changes) => {
        notes.hide(deletedLength(changes));
        return '';
      }),
    );
  }
  return changed ? Buffer.from(await parts.toArrayBuffer()) : bytes;
}

/** Without who changed it and when. */
function deletedLength(changes: string): number {
  const text = replaceElements(changes, 'office:change-info', () => '').replace(/<[^<>]*>/g, '');
  return text.trim().length;
}
