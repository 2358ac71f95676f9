import { firstCharacters } from '../../text/sentences.js';

/** Keeps the titles of the headings that are open while a document is read from top to bottom. */
export interface HeadingPath {
  /** Opens a heading of level 1 to 6 and gives the path that holds from here on. */
  open(level: number, title: string): string[];
  current(): string[];
}

const MAX_TITLE_LENGTH = 200;

export function createHeadingPath(): HeadingPath {
  let path: { level: number; title: string }[] = [];
  let titles: string[] = [];
  return {
    open(level, title) {
      const short = firstCharacters(title.replace(/\s+/g, ' ').trim(), MAX_TITLE_LENGTH);
      path = [...path.filter((heading) => heading.level < level), { level, title: short }];
      titles = path.map((heading) => heading.title).filter((t) => t !== '');
      return titles;
    },
    current: () => titles,
  };
}
