/**
 * Invisible characters that a model reads: Unicode tags (U+E0000–E007F, in which whole sentences can be hidden),
 * zero-width spaces and joiners, byte order marks, marks of direction (which show a text in another order than it is
 * read), soft hyphens, and the fillers that look like nothing.
 */
const INVISIBLE =
  /[\u{E0000}-\u{E007F}\u{E0100}-\u{E01EF}\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u00AD\u180E\u034F\u061C\u115F\u1160\u17B4\u17B5\u3164\uFFA0]+/gu;

/** Joiners shape letters in Arabic and Indic scripts and join emoji; anywhere else they only hide. */
const STRAY_JOINER =
  /(?<![\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])[\u200C\u200D]+|(?<=[\u200C\u200D])[\u200C\u200D]+/gu;

/** A quick look: nearly no text has any of them. */
const ANY =
  /[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\u{E0000}-\u{E01EF}]/u;

/** The text without them; what can be seen stays as it is. */
export function stripInvisible(text: string): string {
  return ANY.test(text) ? text.replace(INVISIBLE, '').replace(STRAY_JOINER, '') : text;
}
