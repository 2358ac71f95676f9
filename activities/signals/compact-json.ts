/** The position behind the closing quote of a string that begins at `start`. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end !== -1) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
    end = json.indexOf('"', end + 1);
  }
  return json.length;
}

/**
 * Removes the blanks between the parts of a valid JSON text and changes nothing else: numbers keep their spelling,
 * keys their order and repetitions.
 */
export function compactJson(json: string): string {
  let compact = '';
  let at = 0;
  while (at < json.length) {
    const quote = json.indexOf('"', at);
    const next = quote === -1 ? json.length : quote;
    compact += json.slice(at, next).replace(/[ \t\r\n]+/g, '');
    at = quote === -1 ? next : endOfString(json, quote);
    compact += json.slice(next, at);
  }
  return compact;
}
