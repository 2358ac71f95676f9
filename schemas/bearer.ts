/** The token of an `Authorization` header; null without one. */
export function bearerIn(header: string): string | null {
  return /^bearer\s+(.+)$/i.exec(header)?.[1] ?? null;
}
