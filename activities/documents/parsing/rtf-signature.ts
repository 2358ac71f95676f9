/** Bytes from the beginning that `isRtfHead` looks at. */
export const RTF_HEAD = 64;

/** Whether a file that begins so is RTF: white space and a mark of UTF-8 may go before it. */
export function isRtfHead(head: Buffer): boolean {
  return /^(?:\xef\xbb\xbf)?\s*\{\\rtf/.test(head.toString('latin1', 0, RTF_HEAD));
}
