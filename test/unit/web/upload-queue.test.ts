import { expect, test } from '@jest/globals';
import { until } from '../../support/until.js';
import { loadWeb } from '../../support/load-web.js';

/** A server that asks to wait a moment. */
class Busy {
  readonly upload = {};
  readonly status = 503;
  readonly responseText = '';
  onload = (): void => undefined;
  open(): void {
    // Nowhere.
  }
  setRequestHeader(): void {
    // To none.
  }
  getResponseHeader(): string {
    return '0.5';
  }
  send(): void {
    setTimeout(() => this.onload(), 0);
  }
}

const location = { origin: 'http://console.test' };
Object.assign(globalThis, { window: { location, addEventListener: () => undefined }, XMLHttpRequest: Busy });
const { uploadQueue } = await loadWeb<{
  uploadQueue: {
    subscribe(listener: () => void): () => void;
    current(): { id: number; fileId: string; phase: string; error: unknown }[];
    add(partition: string, files: File[]): void;
    drop(id: number): void;
  };
}>('pages/documents/uploads/upload-queue');

test('files that are added while the server asks to wait are shown at once', async () => {
  const seen: string[][] = [];
  uploadQueue.subscribe(() => seen.push(uploadQueue.current().map(({ fileId }) => fileId)));
  uploadQueue.add('mill', [new File(['one'], 'one.md')]);
  await until('it is put off', async () => uploadQueue.current()[0]?.error);
  uploadQueue.add('mill', [new File(['two'], 'two.md')]);
  const shown = seen.at(-1);
  for (const { id } of uploadQueue.current()) uploadQueue.drop(id);
  expect(shown).toEqual(['one.md', 'two.md']);
});
