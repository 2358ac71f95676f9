/**
 * What servers say of requests, in the words that they and we commonly use: these tell nothing of a request, though it
 * may hold them too.
 */
const COMMON = new Set(
  (
    'a an and any are as at be by can cannot could did do does for from has have if in into is it its may more most must ' +
    'no not of on only or our out over so than that the their then there this to too under was we were when which while ' +
    'will with within you your ' +
    'access allowed answer answered api array bad batch body bytes call cancelled characters chat chunk code ' +
    'connection content context could credentials decision decisions document documents embed embedding embeddings empty ' +
    'end error exceed exceeded exceeds expected failed failure field fields form format found gateway header html http ' +
    'image input internal invalid item items json key large least length less limit line list load loaded long malformed ' +
    'many maximum message messages method missing model name needed nothing null number object open options ' +
    'parameter parse path prompt provider query ranking rate refused reply request requests required response retry ' +
    'scenario schema sequence server service size source status stream string support supported text texts timeout token ' +
    'tokens type unable unavailable unexpected unknown unsupported url value values vector vectors window word words wrong'
  ).split(' '),
);

const WORD = /[\p{L}\p{N}\p{M}_]+/gu;
/** A part of a word is looked for from this length on: servers cut what they quote. */
const PART = 4;

/** All strings in a value of JSON. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

/**
 * A server's sentence without the words that it may have from what it was asked: servers quote texts that they refuse,
 * and sentences go to logs and to histories, where no text of a document, a question or an alert may stand.
 */
export function withoutQuotes(sentence: string, asked: readonly string[]): string {
  const whole = asked.join('\n').toLowerCase();
  const words = new Set(whole.match(WORD));
  const isQuoted = (word: string): boolean => {
    const plain = word.toLowerCase();
    if (COMMON.has(plain)) return false;
    return words.has(plain) || (plain.length >= PART && whole.includes(plain));
  };
  return sentence
    .replace(WORD, (word) => (isQuoted(word) ? '…' : word))
    .replace(/…(?:[^\p{L}\p{N}…]*…)+/gu, '…');
}
