import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * What axe finds on the page as it stands, contrast of AA included.
 *
 * @param without - Rules to leave out, by their ids.
 */
export async function axeFindings(page: Page, without: readonly string[] = []): Promise<string[]> {
  const rules = JSON.stringify(Object.fromEntries(without.map((id) => [id, { enabled: false }])));
  return await page.evaluate<string[]>(`${AXE};
    axe.run(document, { resultTypes: ['violations'], rules: ${rules} }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 300) + ' ' + failureSummary)))`);
}

/** Run in the page: texts and controls that no scrolling down, and none within a table, brings into sight. */
const LOOK = `(() => {
  const faults = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth + 1) faults.push('the page scrolls sideways');
  const isShown = (element) =>
    element.checkVisibility({ visibilityProperty: true }) && element.closest('[inert], [aria-hidden=true]') === null;
  const parents = function* (element) {
    for (let at = element; at !== null; at = at.parentElement) yield at;
  };
  const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
  const named = (element) =>
    element.tagName.toLowerCase() + ' "' +
    (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 60) + '"';
  const visuallyHidden = (element) =>
    [...parents(element)].some((at) => at.clientWidth <= 1 && getComputedStyle(at).overflow !== 'visible');

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (texts.nextNode() !== null) {
    const element = texts.currentNode.parentElement;
    if (texts.currentNode.data.trim() === '' || element.closest('script, style, option') !== null) continue;
    if (!isShown(element) || visuallyHidden(element)) continue;
    range.selectNodeContents(texts.currentNode);
    const right = Math.max(...[...range.getClientRects()].map((rect) => rect.right));
    const left = Math.min(...[...range.getClientRects()].map((rect) => rect.left));
    let edges = [0, root.clientWidth];
    for (const at of parents(element)) {
      if (scrolls(at)) { edges = null; break; }
      const style = getComputedStyle(at);
      if (style.overflowX === 'visible') continue;
      if (style.textOverflow === 'ellipsis' && at.closest('[title]') !== null) { edges = null; break; }
      const rect = at.getBoundingClientRect();
      edges = [Math.max(edges[0], rect.left), Math.min(edges[1], rect.right)];
    }
    if (edges !== null && (left < edges[0] - 2 || right > edges[1] + 2))
      faults.push('cut off at the side: ' + named(element));
  }

  const controls = 'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"])';
  for (const element of document.querySelectorAll(controls)) {
    // the middle of a country may be that of another one; the list beside the map has them too
    if (element.disabled || !isShown(element) || element instanceof SVGElement) continue;
    // one that a label stands for is drawn by it
    const isDrawn = !visuallyHidden(element) && element.getBoundingClientRect().width > 1;
    const seen = isDrawn ? element : element.labels?.[0];
    if (seen === undefined) continue;
    seen.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    let rect = seen.getBoundingClientRect();
    if (rect.bottom <= 0) {
      // shown with the focus alone, as the link that skips the navigation
      element.focus();
      rect = seen.getBoundingClientRect();
    }
    if (!element.isConnected) continue;
    const hit = document.elementFromPoint(rect.left + rect.width / 2, rect.top + rect.height / 2);
    const isHit = hit !== null &&
      (seen.contains(hit) || hit.contains(seen) || [...(element.labels ?? [])].some((label) => label.contains(hit)));
    // it would cover what stands below it
    if (document.activeElement === element) element.blur();
    if (!isHit) faults.push('cannot be reached by a pointer: ' + named(element) + ', but ' + (hit && named(hit)));
  }
  scrollTo({ top: 0, behavior: 'instant' });
  return faults;
})()`;

/** What of the page one cannot come to at the width of the window. */
export async function layoutFaults(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(LOOK);
}
