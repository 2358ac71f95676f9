import { describe, expect, it } from '@jest/globals';
import { checkContent } from '../../../../activities/documents/parsing/content-check.js';
import { samplePages } from '../../../support/documents/sample-pages.js';
import { writeDocx, writeDocxBomb } from '../../../support/documents/write-docx.js';
import { writeOle } from '../../../support/documents/write-ole.js';
import { writePdf } from '../../../support/documents/write-pdf.js';
import { writeZip } from '../../../support/documents/write-zip.js';

function counted(bytes: Buffer) {
  const source = {
    size: bytes.length,
    reads: 0,
    read: (start: number, end: number) => {
      source.reads++;
      expect(end).toBeLessThanOrEqual(bytes.length);
      return Promise.resolve(bytes.subarray(start, end));
    },
  };
  return source;
}

function mismatch(kind: string) {
  return {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    status: 415,
    message: `File content does not match its extension '.${kind}'`,
  };
}

const pdf = writePdf(samplePages(2));
const docx = writeDocx([{ paragraph: 'Hello' }]);

describe('content check', () => {
  it('takes what is as it says', async () => {
    await checkContent('pdf', counted(pdf));
    await checkContent('pdf', counted(Buffer.concat([Buffer.alloc(8000, 10), pdf])));
    await checkContent('docx', counted(docx));
    await checkContent('txt', counted(pdf));
    await checkContent('html', counted(Buffer.alloc(0)));
  });

  it('takes a Word document whose main part has another name, and one with a password', async () => {
    await checkContent('docx', counted(writeDocx([{ paragraph: 'x' }], [], 'word/document2.xml')));
    await checkContent('docx', counted(writeOle(['Root Entry', 'EncryptionInfo', 'EncryptedPackage'])));
    await expect(
      checkContent('docx', counted(writeOle(['Root Entry', 'WordDocument']))),
    ).rejects.toMatchObject(mismatch('docx'));
  });

  it('takes a damaged file with the right signature; its task fails later', async () => {
    await checkContent('pdf', counted(pdf.subarray(0, 100)));
    await checkContent('docx', counted(writeDocxBomb(10_000_000)));
  });

  it.each([
    ['text', Buffer.from('just some text')],
    ['nothing', Buffer.alloc(0)],
    ['a signature too far in', Buffer.concat([Buffer.alloc(8192), pdf])],
    ['a Word document', docx],
  ])('refuses %s named .pdf', async (_, bytes) => {
    await expect(checkContent('pdf', counted(bytes))).rejects.toMatchObject(mismatch('pdf'));
  });

  it.each([
    ['a plain zip', writeZip([{ name: 'a.txt', content: 'hello' }])],
    ['a PDF', pdf],
    ['text', Buffer.from('PK but no zip')],
    ['a zip cut off', docx.subarray(0, docx.length - 30)],
    ['nothing', Buffer.alloc(0)],
  ])('refuses %s named .docx', async (_, bytes) => {
    await expect(checkContent('docx', counted(bytes))).rejects.toMatchObject(mismatch('docx'));
  });

  it('reads a directory of many entries in few steps', async () => {
    const parts = Array.from({ length: 5000 }, (_, i) => ({
      name: `word/media/image-${i}.png`,
      content: 'x',
    }));
    const source = counted(writeDocx([{ paragraph: 'Hello' }], parts));
    await checkContent('docx', source);
    expect(source.reads).toBeLessThan(30);
  });

  it('unpacks a list once, however often the directory names it', async () => {
    const list = { name: '[Content_Types].xml', content: ' '.repeat(100_000) };
    const source = counted(writeZip(Array.from({ length: 3_000 }, () => list)));
    await expect(checkContent('docx', source)).rejects.toMatchObject(mismatch('docx'));
    expect(source.reads).toBeLessThan(30);
  });

  it("passes the store's own errors on", async () => {
    const broken = Object.assign(new Error('gone'), { code: 'ECONNRESET' });
    const source = { size: 5000, read: () => Promise.reject(broken) };
    await expect(checkContent('docx', source)).rejects.toBe(broken);
    await expect(checkContent('pdf', source)).rejects.toBe(broken);
  });
});
