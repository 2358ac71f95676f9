import { inflateSync } from 'node:zlib';

/** Unpacked objects of a damaged file together. */
const MAX_UNPACKED = 256 * 1024 * 1024;
const HEAD = 4096;
const LEADING = /\/Type\s*\/(?:Catalog|Pages?|ObjStm)(?![A-Za-z])/;

interface FoundObject {
  number: number;
  /** The beginning of it, up to its end or its stream. */
  dictionary: string;
  /** Where the stream begins, if it has one. */
  stream: number | null;
}

/**
 * A PDF whose end is missing, with an end that leads to what is there: its table of objects, which stands at the end,
 * is left to the reader to rebuild; objects that were packed together are put down as they are, and where the
 * document's root is lost, one is made for the pages that are found.
 */
export function repairCutOff(bytes: Buffer): Buffer {
  const { objects, highest: highestFound } = findObjects(bytes);
  const unpacked = unpackObjects(bytes, objects);
  const all = [
    ...objects,
    ...unpacked.map(({ number, text }) => ({ number, dictionary: text, stream: null })),
  ];
  const ofType = (type: string): FoundObject[] =>
    all.filter(({ dictionary }) => new RegExp(`/Type\\s*/${type}(?![A-Za-z])`).test(dictionary));
  const highest = unpacked.reduce((most, { number }) => Math.max(most, number), highestFound);
  const added = unpacked.map(({ number, text }) => `${number} 0 obj\n${text}\nendobj\n`);
  const treeRoot = /\/Pages\s+(\d+)\s/.exec(ofType('Catalog').at(-1)?.dictionary ?? '')?.[1];
  let root = ofType('Catalog').at(-1)?.number;
  if (root === undefined || !ofType('Pages').some(({ number }) => number === Number(treeRoot))) {
    root = highest + 1;
    const kids = [...new Set(ofType('Page').map(({ number }) => number))];
    const list = kids.map((number) => `${number} 0 R`).join(' ');
    added.push(`${root} 0 obj\n<< /Type /Catalog /Pages ${root + 1} 0 R >>\nendobj\n`);
    added.push(`${root + 1} 0 obj\n<< /Type /Pages /Kids [${list}] /Count ${kids.length} >>\nendobj\n`);
  }
  const trailer = `trailer\n<< /Root ${root} 0 R /Size ${highest + 3} >>\nstartxref\n0\n%%EOF\n`;
  return Buffer.concat([bytes, Buffer.from(`\nendstream\nendobj\n${added.join('')}${trailer}`, 'latin1')]);
}

/** Those of a kind that leads to others, and the highest number of all. */
function findObjects(bytes: Buffer): { objects: FoundObject[]; highest: number } {
  const objects: FoundObject[] = [];
  let highest = 0;
  for (let at = bytes.indexOf(' obj'); at >= 0; at = bytes.indexOf(' obj', at + 4)) {
    const number = Number(
      /(\d{1,10}) \d{1,5}$/.exec(bytes.toString('latin1', Math.max(0, at - 17), at))?.[1],
    );
    if (Number.isNaN(number)) continue;
    highest = Math.max(highest, number);
    const from = at + 4;
    const head = bytes.toString('latin1', from, from + HEAD);
    const end = head.search(/endobj|\bstream\r?\n/);
    const length = end < 0 ? head.length : end;
    if (!LEADING.test(head.slice(0, length))) continue;
    const stream = end >= 0 && head.startsWith('stream', end) ? from + end + 'stream'.length : null;
    objects.push({
      number,
      // Read again: a part of the text read first would hold all of that.
      dictionary: bytes.toString('latin1', from, from + length),
      stream: stream === null ? null : stream + (bytes[stream] === 13 ? 2 : 1),
    });
  }
  return { objects, highest };
}

/** The objects within object streams (PDF 1.7, section 7.5.7). */
function unpackObjects(bytes: Buffer, objects: readonly FoundObject[]): { number: number; text: string }[] {
  const found: { number: number; text: string }[] = [];
  let total = 0;
  for (const { dictionary, stream } of objects) {
    if (stream === null || !/\/Type\s*\/ObjStm/.test(dictionary)) continue;
    const first = Number(/\/First\s+(\d+)/.exec(dictionary)?.[1]);
    const count = Number(/\/N\s+(\d+)/.exec(dictionary)?.[1]);
    const end = bytes.indexOf('endstream', stream);
    const text = end < 0 ? null : unpack(bytes.subarray(stream, end), MAX_UNPACKED - total);
    if (text === null || !(first > 0)) continue;
    total += text.length;
    const table = text.slice(0, first).trim().split(/\s+/).map(Number);
    for (let i = 0; i < count; i++) {
      const [number, from] = [table[2 * i], table[2 * i + 1]];
      const to = i + 1 < count ? table[2 * i + 3] : undefined;
      if (number === undefined || from === undefined) break;
      found.push({ number, text: text.slice(first + from, to === undefined ? undefined : first + to) });
    }
  }
  return found;
}

function unpack(bytes: Buffer, maxOutputLength: number): string | null {
  try {
    return inflateSync(bytes, { maxOutputLength }).toString('latin1');
  } catch {
    return null;
  }
}
