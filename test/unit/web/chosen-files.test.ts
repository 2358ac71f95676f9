import { beforeEach, describe, expect, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';
import { until } from '../../support/until.js';

/** A transfer that is never answered. */
class Silent {
  readonly upload = {};
  open(): void {
    // Nowhere.
  }
  setRequestHeader(): void {
    // To none.
  }
  send(): void {
    // Nothing.
  }
}

interface Asked {
  file: string;
  answer(status: number): void;
}

/** Deletions that the test has not answered yet. */
let open: Asked[] = [];

const location = { origin: 'http://console.test' };
Object.assign(globalThis, {
  window: { location, addEventListener: () => undefined },
  XMLHttpRequest: Silent,
  fetch: (path: string) =>
    new Promise<Response>((resolve) => {
      const asked: Asked = {
        file: path.split('/').at(-1)!,
        answer(status) {
          open = open.filter((other) => other !== asked);
          resolve(new Response(status === 204 ? null : '{"detail":"No"}', { status }));
        },
      };
      open.push(asked);
    }),
});
const { setCsrfToken } = await loadWeb<{ setCsrfToken(token: string): void }>('api/client');
setCsrfToken('of this session');
const { uploadQueue } = await loadWeb<{
  uploadQueue: { add(partition: string, files: File[]): void };
}>('pages/documents/uploads/upload-queue');
const { deleteFiles } = await loadWeb<{
  deleteFiles(
    partition: string,
    files: string[],
    onGone: () => void,
  ): Promise<{ left: string[]; error: { status: number } | null }>;
}>('pages/documents/files/delete-files');
const { chooseFiles } = await loadWeb<{
  chooseFiles(
    chosen: ReadonlySet<string>,
    list: string[],
    click: { file: string; into: boolean; from: string | null },
  ): ReadonlySet<string>;
}>('pages/documents/files/choose-files');

beforeEach(() => void (open = []));

function openFiles(): string[] {
  return open.map(({ file }) => file);
}

/** Waits for the next deletion that is asked for, and answers it. */
async function answerNext(status: number): Promise<string> {
  await until('a deletion is asked for', async () => open.length > 0);
  const [asked] = open;
  asked!.answer(status);
  return asked!.file;
}

describe('files that are deleted together', () => {
  test('go two at a time, and one that was deleted elsewhere counts as gone', async () => {
    let gone = 0;
    const ending = deleteFiles('mill', ['one', 'two', 'three'], () => (gone += 1));
    expect(openFiles()).toEqual(['one', 'two']);
    expect([await answerNext(204), await answerNext(404), await answerNext(204)]).toEqual([
      'one',
      'two',
      'three',
    ]);
    expect(await ending).toEqual({ left: [], error: null });
    expect(gone).toBe(3);
  });

  test('are left where they are refused, and the others go', async () => {
    const ending = deleteFiles('mill', ['one', 'two', 'three'], () => undefined);
    await answerNext(409);
    await answerNext(204);
    await answerNext(204);
    expect(await ending).toMatchObject({ left: ['one'], error: { status: 409 } });
  });

  test.each([401, 403, 429, 503])('are all left once all requests are refused: %i', async (status) => {
    const ending = deleteFiles('mill', ['one', 'two', 'three', 'four'], () => undefined);
    await answerNext(status);
    await answerNext(status);
    const { left, error } = await ending;
    expect([left.toSorted(), error?.status]).toEqual([['four', 'one', 'three', 'two'], status]);
    expect(open).toEqual([]);
  });

  test('stay where another version is uploaded meanwhile', async () => {
    const ending = deleteFiles('mill', ['one.md', 'two.md', 'three.md', 'four.md'], () => undefined);
    uploadQueue.add('mill', [new File(['anew'], 'three.md')]);
    uploadQueue.add('quay', [new File(['elsewhere'], 'four.md')]);
    const deleted = [await answerNext(204), await answerNext(204), await answerNext(204)];
    expect(deleted).toEqual(['one.md', 'two.md', 'four.md']);
    expect(await ending).toEqual({ left: [], error: null });
  });
});

test('a click with Shift means all files from the one clicked before, either way', () => {
  const list = ['a', 'b', 'c', 'd', 'e'];
  const after = (chosen: string[], file: string, into: boolean, from: string | null) => [
    ...chooseFiles(new Set(chosen), list, { file, into, from }),
  ];
  expect(after([], 'b', true, null)).toEqual(['b']);
  expect(after(['b'], 'd', true, 'b')).toEqual(['b', 'c', 'd']);
  expect(after(list, 'b', false, 'd')).toEqual(['a', 'e']);
  // The one before is not shown any more.
  expect(after(['x'], 'd', true, 'x')).toEqual(['x', 'd']);
});
