import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { areTiny, isHiddenElement, plainSurroundings, surroundingsIn } from './hidden-styles.js';
import type { Looks } from './hidden-styles.js';
import { INLINE_TAGS, REOPENED, VOID } from './html-tags.js';

/** Follows the tags of HTML, whatever its nesting, and knows where text is hidden. In linear time. */
export interface HiddenElements {
  /** @param attributes as they are written */
  open(name: string, attributes: string): void;
  close(name: string): void;
  /** Whether text that comes now is not seen. */
  readonly hidden: boolean;
  /** Whether what comes now stands in a hidden element: no element in it is seen, whatever it says. */
  readonly within: boolean;
}

interface OpenElement {
  name: string;
  /** Height of its letters. */
  letters: number;
  /** Place of the element that says so; -1: none does. */
  saidAt: number;
}

function names(list: string): readonly string[] {
  return list.split(' ');
}

const CELLS = names('td th caption table');
/** What the opening of an element ends, where that is open and none of the others was opened since. */
const ENDS: readonly { opened: ReadonlySet<string>; ended: readonly string[]; within: readonly string[] }[] =
  [
    {
      opened: new Set(
        names(
          'address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer ' +
            'form h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre search section summary table ul',
        ),
      ),
      ended: ['p'],
      within: [...CELLS, 'button'],
    },
    { opened: new Set(['li']), ended: ['li'], within: [...CELLS, 'ul', 'ol', 'menu'] },
    { opened: new Set(['dt', 'dd']), ended: ['dt', 'dd'], within: [...CELLS, 'dl'] },
    { opened: new Set(['td', 'th']), ended: ['td', 'th'], within: ['table', 'tr'] },
    { opened: new Set(['tr']), ended: ['tr'], within: ['table'] },
    { opened: new Set(names('tbody thead tfoot')), ended: names('tbody thead tfoot tr'), within: ['table'] },
    { opened: new Set(['option', 'optgroup']), ended: ['option'], within: ['select'] },
  ];
/** A cell is left by the ends of these alone. */
const OF_TABLES = new Set([...CELLS, ...names('tr tbody thead tfoot html body')]);

/** Names are kept; HTML has some 150, and those beyond this count as one. */
const MAX_NAMES = 1_000;
const OTHERS = '';

/** As browsers nest elements, as far as it matters here: one that is left open ends where that around it does. */
export function createHiddenElements(): HiddenElements {
  const readLooks = createLookReader();
  const open: OpenElement[] = [];
  /** Of each name its places in `open`, ascending. */
  const places = new Map<string, number[]>();
  /** Place of the outermost hidden element. */
  let hiddenAt = -1;

  const lastOf = (wanted: readonly string[]): number =>
    Math.max(-1, ...wanted.map((name) => places.get(name)?.at(-1) ?? -1));
  const cutTo = (length: number): void => {
    while (open.length > length) places.get(open.pop()!.name)!.pop();
    if (open.length <= hiddenAt) hiddenAt = -1;
  };
  const hasTinyLetters = (): boolean => open.length > 0 && areTiny(open.at(-1)!.letters);
  /** Whether the element at a place stays when one around it is closed. */
  const outlives = (place: number, name: string): boolean => {
    const hidden = open[place]!.name;
    // A browser opens it again in what follows; formatting that is closed leaves the blocks in it open.
    return REOPENED.has(hidden) || (REOPENED.has(name) && !INLINE_TAGS.has(hidden));
  };

  const known = (name: string): string => (places.has(name) || places.size < MAX_NAMES ? name : OTHERS);

  return {
    open(name, attributes) {
      if (VOID.has(name) && name !== 'hr') return;
      for (const { opened, ended, within } of ENDS) {
        if (!opened.has(name)) continue;
        const at = lastOf(ended);
        if (at > lastOf(within)) cutTo(at);
      }
      if (name === 'hr') return;
      const counted = known(name);
      if (!places.has(counted)) places.set(counted, []);
      places.get(counted)!.push(open.length);
      const around = open.at(-1) ?? { letters: NORMAL_LETTERS, saidAt: -1 };
      const looks = readLooks(attributes);
      const letters = looks === null ? around.letters : lettersIn(around.letters, looks, name);
      open.push({
        name: counted,
        letters,
        saidAt: letters === around.letters ? around.saidAt : open.length,
      });
      if (hiddenAt < 0 && looks !== null && isHiddenElement(looks)) hiddenAt = open.length - 1;
    },
    close(name) {
      const at = lastOf([known(name)]);
      if (at < 0 || (at < lastOf(CELLS) && !OF_TABLES.has(name))) return;
      const hidingAt = hiddenAt >= 0 ? hiddenAt : hasTinyLetters() ? open.at(-1)!.saidAt : -1;
      if (hidingAt > at && outlives(hidingAt, name)) return;
      cutTo(at);
    },
    get hidden() {
      return hiddenAt >= 0 || hasTinyLetters();
    },
    get within() {
      return hiddenAt >= 0;
    },
  };
}

const reader = unified().use(rehypeParse, { fragment: true });
/** What `isHiddenElement` and the height of letters go by, or what a reference may stand for. */
const MAY_HIDE = /hidden|display|visibility|opacity|font|size|indent|position|overflow|clip|&/i;
/** Elements of a page look alike, and reading attributes takes thirty times as long as finding their tag. */
const MAX_KNOWN = 1_000;
/** What stands behind the element is not known here, so that no colour counts. */
const PLAIN = plainSurroundings('unknown');
const NORMAL_LETTERS = PLAIN.letters;

function lettersIn(around: number, looks: Looks, name: string): number {
  return surroundingsIn({ ...PLAIN, letters: around }, looks, name).letters;
}

/** Null: the element says nothing that matters here. */
function createLookReader(): (attributes: string) => Looks | null {
  const known = new Map<string, Looks | null>();
  return (attributes) => {
    if (!MAY_HIDE.test(attributes)) return null;
    const before = known.get(attributes);
    if (before !== undefined) return before;
    const [element] = reader.parse(`<p ${attributes}>`).children;
    const looks = element !== undefined && 'properties' in element ? (element.properties as Looks) : null;
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(attributes, looks);
    return looks;
  };
}
