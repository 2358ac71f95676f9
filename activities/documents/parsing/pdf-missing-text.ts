import type { Rect, TextItem } from '@llamaindex/liteparse';

/** A part of a page whose text is known, and where it stands. */
export interface ReadRegion {
  text: string;
  box: Rect | null;
}

/** Text of a page that no region has, on one line. */
export interface MissingLine {
  items: { text: string; box: Rect }[];
  box: Rect;
}

const TOKEN = /[\p{L}\p{N}]+/gu;
/** So long a text does not stand in another one by chance. */
const TELLING = 6;
/** Items without a region that are looked for in the whole page. */
const MAX_LOOKED_FOR = 2000;

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

function tokensOf(text: string): string[] {
  return fold(text).match(TOKEN) ?? [];
}

function squash(text: string): string {
  return tokensOf(text).join('');
}

/**
 * The items of a page whose words are in none of its regions, and how many letters and digits they and all have.
 * Words count: "400" twice on the page and once in the regions is missing once, at the place that no region covers.
 */
export function findMissingText(
  items: readonly TextItem[],
  regions: readonly ReadRegion[],
): { items: TextItem[]; letters: number; missing: number } {
  const read = regions.map(({ text, box }) => ({ box, squashed: squash(text) }));
  const regionsAt = createBands(read);
  const all = read.map(({ squashed }) => squashed).join(' ');
  /** How often a token stands on the page and in no region. */
  const lacking = new Map<string, number>();
  const count = (tokens: readonly string[], by: number): void => {
    for (const token of tokens) lacking.set(token, (lacking.get(token) ?? 0) + by);
  };
  let letters = 0;
  const same = new Map<string, number>();
  const own = items.map((item) => {
    const tokens = tokensOf(item.text);
    const squashed = tokens.join('');
    letters += squashed.length;
    count(tokens, 1);
    same.set(squashed, (same.get(squashed) ?? 0) + 1);
    const owners = regionsAt(item).filter(({ box }) => box !== null && holds(box, item));
    return { item, tokens, squashed, covered: owners.length > 0, owners };
  });
  for (const { text } of regions) count(tokensOf(text), -1);

  let looked = 0;
  const isRead = ({ squashed, owners, covered }: (typeof own)[number]): boolean =>
    squashed === '' ||
    owners.some((owner) => owner.squashed.includes(squashed)) ||
    // Regions without a box, and lines that a region took from beside it.
    (!covered &&
      looked++ < MAX_LOOKED_FOR &&
      squashed.length >= TELLING &&
      all.split(squashed).length > same.get(squashed)!);
  const found = new Set<TextItem>();
  const candidates = own.filter((one) => !isRead(one));
  for (const { item, tokens } of [...candidates].sort((a, b) => Number(a.covered) - Number(b.covered))) {
    if (!tokens.some((token) => (lacking.get(token) ?? 0) > 0)) continue;
    found.add(item);
    count(tokens, -1);
  }
  const missingItems = items.filter((item) => found.has(item));
  const missing = missingItems.reduce((sum, item) => sum + squash(item.text).length, 0);
  return { items: missingItems, letters, missing };
}

/** Points of a page's height: what is looked for at a place is looked for in its band alone. */
const BAND = 16;
const MAX_BANDS = 1000;

/** A page may have many thousand cells and as many items: each with each would take minutes. */
function createBands<Region extends { box: Rect | null }>(
  regions: readonly Region[],
): (place: Rect) => readonly Region[] {
  const bands = new Map<number, Region[]>();
  const bandOf = (y: number): number => Math.max(0, Math.min(MAX_BANDS, Math.floor(y / BAND)));
  for (const region of regions) {
    if (region.box === null) continue;
    const last = bandOf(region.box.y + region.box.height + 1);
    for (let band = bandOf(region.box.y - 1); band <= last; band++) {
      const held = bands.get(band);
      if (held) held.push(region);
      else bands.set(band, [region]);
    }
  }
  return (place) => bands.get(bandOf(middleOf(place))) ?? [];
}

function holds(box: Rect, { x, y, width, height }: Rect): boolean {
  const centre = { x: x + width / 2, y: y + height / 2 };
  return (
    centre.x >= box.x - 1 &&
    centre.x <= box.x + box.width + 1 &&
    centre.y >= box.y - 1 &&
    centre.y <= box.y + box.height + 1
  );
}

export function middleOf({ y, height }: Rect): number {
  return y + height / 2;
}

/** Items beside each other are a line, from left to right; lines from top to bottom. */
export function toLines(items: readonly TextItem[]): MissingLine[] {
  const lines: MissingLine[] = [];
  for (const item of items) {
    const { x, y, width, height } = item;
    const box = { x, y, width, height };
    const beside = (line: MissingLine): boolean =>
      Math.abs(middleOf(line.box) - middleOf(box)) < Math.min(line.box.height, height) / 2;
    const text = item.text.replace(/\s+/g, ' ').trim();
    const line = lines.find(beside);
    if (line === undefined) lines.push({ items: [{ text, box }], box });
    else {
      line.items.push({ text, box });
      line.items.sort((a, b) => a.box.x - b.box.x);
      line.box = union(line.box, box);
    }
  }
  return lines.sort((a, b) => middleOf(a.box) - middleOf(b.box));
}

function union(a: Rect, b: Rect): Rect {
  const x = Math.min(a.x, b.x);
  const y = Math.min(a.y, b.y);
  return {
    x,
    y,
    width: Math.max(a.x + a.width, b.x + b.width) - x,
    height: Math.max(a.y + a.height, b.y + b.height) - y,
  };
}

/** Where a line belongs among regions in reading order: behind the nearest above it, else before the first below. */
export function placeOf(box: Rect, regions: readonly { box: Rect | null }[]): number {
  const overlaps = (other: Rect): boolean => other.x < box.x + box.width && box.x < other.x + other.width;
  const nearest = (wanted: (other: Rect) => boolean): number | null => {
    let above: { at: number; y: number } | null = null;
    let below: { at: number; y: number } | null = null;
    regions.forEach(({ box: other }, at) => {
      if (other === null || !wanted(other)) return;
      if (other.y <= middleOf(box)) {
        if (above === null || other.y >= above.y) above = { at, y: other.y };
      } else if (below === null || other.y < below.y) below = { at, y: other.y };
    });
    const before = above as { at: number } | null;
    const after = below as { at: number } | null;
    if (before !== null) return before.at + 1;
    return after === null ? null : after.at;
  };
  return nearest(overlaps) ?? nearest(() => true) ?? regions.length;
}
