import type { ParseNotes } from '../parse-notes.js';
import { replaceElements } from '../word-package.js';

const CHANGES = 'text:tracked-changes';

/**
 * A part of OpenDocument without what was deleted from it while changes were recorded: that stands in front of the
 * text, in paragraphs like any other, and is not shown.
 */
export function withoutTrackedChanges(xml: string, notes: ParseNotes): string {
  if (!xml.includes(`<${CHANGES}`)) return xml;
  return replaceElements(xml, CHANGES, (changes) => {
    notes.hide(deletedLength(changes));
    return '';
  });
}

/** Without who changed it and when. */
function deletedLength(changes: string): number {
  const text = replaceElements(changes, 'office:change-info', () => '').replace(/<[^<>]*>/g, '');
  return text.trim().length;
}
