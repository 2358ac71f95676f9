import { expect, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

const { readUtf8 } = await loadWeb<{ readUtf8(file: Blob): Promise<string> }>(
  'pages/evaluation/overview/read-utf8',
);

const TEXT = 'question,passage\nQuand le café ouvre-t-il ?,ouvert dès l’été\n';

test('a file of questions in UTF-8 is read as it is, without a byte order mark', async () => {
  expect(await readUtf8(new Blob([TEXT]))).toBe(TEXT);
  expect(await readUtf8(new Blob(['\uFEFF', TEXT]))).toBe(TEXT);
});

test.each(['latin1', 'utf16le'] as const)('one in %s is refused', async (encoding) => {
  const bytes = Buffer.from(`\uFEFF${TEXT}`, encoding);
  await expect(readUtf8(new Blob([new Uint8Array(bytes)]))).rejects.toMatchObject({ name: 'NotUtf8' });
});
