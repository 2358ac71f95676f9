/** Tags that make a page fetch something by themselves. */
const FETCHING_TAG =
  /^<\/?(?:audio|base|embed|form|iframe|image|img|input|link|meta|object|picture|script|source|style|svg|video)\b/iu;

/** A whole tag whose attributes, if any, hold neither an address nor code. */
const HARMLESS_TAG =
  /^<[a-z][a-z\d-]*(?:\s+(?:align|alt|class|colspan|dir|id|lang|name|rowspan|scope|start|title)(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'=<>`]+))?)*\s*\/?>$/iu;

/** An address in angle brackets as Markdown has it (CommonMark 0.31, 6.5): no tag. */
const AUTOLINK = /^<[a-z][a-z\d+.-]{1,31}:[^\s<>]*>$/iu;

/** Where a tag may begin; a bracket at the end may yet become one. */
const OPENING = /<(?=\/?[a-z]|\/?$)/giu;

/** A tag that is longer is taken for one that hides something behind its length. */
const MAX_TAG = 300;

export interface TagFilter {
  /** Takes the next delta of the answer; gives back what may be shown now. */
  push(delta: string): string;
  /** What is left at the end. */
  end(): string;
}

/** How long a tag at the beginning of the text is, with its closing bracket; null where the text ends before it. */
function tagLength(text: string): number | null {
  // No further, so that a text of nothing but opening brackets is not searched to its end for each.
  const close = text.slice(0, MAX_TAG).indexOf('>');
  if (close !== -1) return close + 1;
  return text.length > MAX_TAG ? MAX_TAG : null;
}

/** Without a sign of equality nothing has a value, and what follows a comparison in prose or in a program is no tag. */
function isHarmless(tag: string): boolean {
  if (FETCHING_TAG.test(tag)) return false;
  return HARMLESS_TAG.test(tag) || AUTOLINK.test(tag) || (tag.endsWith('>') && !tag.includes('='));
}

/**
 * Takes the bracket from tags that could carry something out of an answer: those that a page fetches by itself, and
 * those with an attribute that can hold an address or a style. Answers are Markdown, which needs neither; plain tags,
 * and those with nothing but a class, a title and the like, stay. What comes out does not depend on how the answer was
 * cut into deltas.
 */
export function createTagFilter(): TagFilter {
  let held = '';

  /** Shows what is settled, and keeps the rest in `held`. */
  const settle = (isEnd: boolean): string => {
    let shown = '';
    for (;;) {
      OPENING.lastIndex = 0;
      const open = OPENING.exec(held)?.index ?? held.length;
      shown += held.slice(0, open);
      held = held.slice(open);
      if (held === '') return shown;
      const length = tagLength(held);
      if (length === null && !isEnd) return shown;
      const tag = held.slice(0, length ?? held.length);
      // Where the text ends within a tag, no browser makes one of it; the next answer could go on with it.
      const stays = length === null ? !FETCHING_TAG.test(tag) && !tag.includes('=') : isHarmless(tag);
      shown += stays ? '<' : '‹';
      held = held.slice(1);
    }
  };

  return {
    push(delta) {
      held += delta;
      return settle(false);
    },
    end: () => settle(true),
  };
}
