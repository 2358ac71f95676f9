/** More than this before a final status line is no HTTP. */
const MAX_BYTES = 64 * 1024;

/**
 * Finds the final status in the first bytes of an HTTP/1 answer, as soon as its three digits are there: a parser
 * would wait for the end of the headers, and report an error when the connection ends before. Interim answers (1xx,
 * RFC 9110, 15.2) are stepped over. Feed it every chunk; it answers the status once known, else null.
 */
export function createStatusLineReader(): (chunk: Buffer) => number | null {
  let text = '';
  let status: number | null = null;
  return (chunk) => {
    if (status !== null || text.length > MAX_BYTES) return status;
    text += chunk.toString('latin1');
    for (;;) {
      const match = /^HTTP\/1\.\d (\d{3})/.exec(text);
      if (match === null) return null;
      const found = Number(match[1]);
      if (found >= 200) return (status = found);
      const end = text.indexOf('\r\n\r\n');
      if (end === -1) return null;
      text = text.slice(end + 4);
    }
  };
}
