import type { Page } from 'playwright-core';

/** Bytes of script that a page took, as they came over the line. */
export function scriptBytes(page: Page): Promise<number> {
  return page.evaluate<number>(
    `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  );
}
