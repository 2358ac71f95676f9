const UNSTORABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]|\p{Surrogate}/gu;

/** Line ends become `\n`; control characters and halves of surrogate pairs, which no store takes, become spaces. */
export function cleanText(text: string): string {
  return storableText(text.replace(/\r\n?/g, '\n'));
}

/** Of the same length. */
export function storableText(text: string): string {
  return text.replace(UNSTORABLE, ' ');
}
