const WORDS =
  'tide mill sluice pond wheel stone flour harbour lamp causeway keeper grain gate eel berth quay moth bell rope cog'.split(
    ' ',
  );

/** A text of paragraphs, the same for the same seed everywhere (mulberry32). */
export function generatedText(seed: number, paragraphs: number): string {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return Array.from({ length: paragraphs }, (_, paragraph) => {
    const words = Array.from({ length: 60 }, () => WORDS[Math.floor(next() * WORDS.length)]);
    return `Document ${seed}, paragraph ${paragraph}: ${words.join(' ')}.`;
  }).join('\n\n');
}
