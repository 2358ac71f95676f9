/** Whether requests of this method change nothing, so that a page of another origin does no harm by one. */
export function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
