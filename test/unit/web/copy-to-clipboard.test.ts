import { beforeEach, expect, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

const { copyToClipboard } = await loadWeb<{ copyToClipboard(text: string): Promise<boolean> }>(
  'shared/copy-to-clipboard',
);

class HTMLElement {
  value = '';
  readonly style = {};
  focus(): void {
    focused += 1;
  }
  select(): void {
    marked = this.value;
  }
  remove(): void {
    shown.delete(this);
  }
}

const shown = new Set<HTMLElement>();
/** How often what had the focus before gets it back. */
let focused = 0;
let marked = '';
/** What the clipboard holds. */
let held = '';
let letsCopy = true;
const document = {
  activeElement: new HTMLElement(),
  createElement: () => new HTMLElement(),
  body: { append: (element: HTMLElement) => shown.add(element) },
  execCommand: () => {
    if (letsCopy) held = marked;
    return letsCopy;
  },
};
Object.assign(globalThis, { document, HTMLElement });

function browserHas(clipboard?: { writeText(text: string): Promise<void> }): void {
  Object.defineProperty(globalThis, 'navigator', { value: { clipboard }, configurable: true });
}

beforeEach(() => {
  [held, marked, letsCopy, focused] = ['', '', true, 0];
});

test('a text is copied by the clipboard where the browser has one', async () => {
  browserHas({ writeText: async (text) => void (held = text) });
  expect([await copyToClipboard('a token'), held, marked]).toEqual([true, 'a token', '']);
});

test.each([
  ['has none, as on plain HTTP', undefined],
  ['refuses', { writeText: () => Promise.reject(new DOMException('no', 'NotAllowedError')) }],
])('it is copied out of a field where the browser %s', async (_where, clipboard) => {
  browserHas(clipboard);
  expect([await copyToClipboard('a token'), held]).toEqual([true, 'a token']);
  expect([shown.size, focused]).toEqual([0, 1]);
});

test('it is said not to be copied where nothing lets it', async () => {
  browserHas();
  letsCopy = false;
  expect([await copyToClipboard('a token'), held, shown.size]).toEqual([false, '', 0]);
});
