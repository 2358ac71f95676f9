/**
 * Whether it is a way within this origin: an address elsewhere, or what a browser would take for one, would lead a
 * person astray. As a way is written in an address: a browser leaves tabs out of what it is led to, and a header takes
 * no other letters.
 */
export function isOwnPath(path: string): boolean {
  return /^\/(?![/\\])[!-~]*$/.test(path);
}
