/** Whether a `Content-Type` is one of JSON. */
export function isJsonType(type: string): boolean {
  return /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type.trim());
}

/**
 * Whether an answer cannot be CAPI's, which says everything as JSON: what stands in between, such as a portal or a page
 * about maintenance, answers 200 as well.
 */
export function isForeign(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  const type = [headers['content-type']].flat()[0];
  return type !== undefined && !isJsonType(type);
}
