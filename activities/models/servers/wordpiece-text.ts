/** Signs of the general punctuation block, and those that stand for ASCII ones in typeset text. */
const TYPOGRAPHIC: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...'‘’‚‛′ʹʼ'].map((sign) => [sign, "'"])),
  ...Object.fromEntries([...'“”„‟″«»'].map((sign) => [sign, '"'])),
  ...Object.fromEntries([...'‐‑‒–—―−'].map((sign) => [sign, '-'])),
  '‹': "'",
  '›': "'",
  '…': '...',
};
const TYPOGRAPHIC_SIGN = new RegExp(`[${Object.keys(TYPOGRAPHIC).join('')}]`, 'gu');

/** ASCII signs that Unicode calls symbols: the reference cuts words at them, Ollama does not. */
const OPERATORS = /[$+<=>^`|~]/g;

/** Lone halves of a pair cannot be written as UTF-8; a NUL ends a text early in servers written in C. */
const UNWRITABLE = /\p{Surrogate}|\0/gu;

/** What every model server is spared. */
export function plainText(text: string): string {
  return text.replace(UNWRITABLE, ' ');
}

/**
 * A text as a WordPiece model on Ollama must be given it, documents and queries alike. Ollama neither strips accents
 * nor cuts words at symbols as BERT's own tokeniser does (cosine 0.02 for "Zürich café naïve", ollama issue 15609):
 * typographic quotes and dashes to ASCII, NFD, marks, format and control characters dropped (line ends and tabs are
 * spaces first), ASCII operators spaced. After that its vectors equal the reference's. Doing it twice changes nothing.
 *
 * Source of the steps: `BasicTokenizer` of google-research/bert, tokenization.py.
 */
export function wordpieceText(text: string): string {
  return plainText(text)
    .replace(TYPOGRAPHIC_SIGN, (sign) => TYPOGRAPHIC[sign] ?? sign)
    .normalize('NFD')
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029]/g, ' ')
    .replace(/[\p{Mn}\p{Cf}\p{Cc}]/gu, '')
    .replace(OPERATORS, ' $& ')
    .replace(/ {2,}/g, ' ')
    .trim();
}
