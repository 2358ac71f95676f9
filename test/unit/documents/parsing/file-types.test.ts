import { describe, expect, it } from '@jest/globals';
import { resolveFileKind, supportedTypes } from '../../../../activities/documents/parsing/file-types.js';

describe('file types', () => {
  it('names the extensions and MIME types', () => {
    const { extensions, mimetypes } = supportedTypes();
    expect(extensions).toEqual(['txt', 'md', 'html', 'htm', 'pdf', 'docx']);
    expect(mimetypes).toEqual(expect.arrayContaining(['text/plain', 'application/pdf', 'text/markdown']));
  });

  it.each([
    ['notes.txt', undefined, 'txt'],
    ['REPORT.PDF', undefined, 'pdf'],
    ['page.htm', null, 'html'],
    ['a.b.docx', '', 'docx'],
    ['upload.bin', 'text/markdown; charset=utf-8', 'md'],
    ['README', 'text/plain', 'txt'],
    ['notes.txt', 'application/pdf', 'txt'],
    ['notes.txt', 'image/png', 'txt'],
    ['report.pdf', 'application/octet-stream', 'pdf'],
    ['report.pdf', 'application/x-pdf', 'pdf'],
  ])('takes %s with MIME type %s as %s', (filename, mimetype, kind) => {
    expect(resolveFileKind({ filename, mimetype })).toBe(kind);
  });

  it.each([
    ['virus.exe', undefined],
    ['noextension', undefined],
    ['noextension', 'application/octet-stream'],
    ['picture.xyz', 'image/png'],
  ])('refuses %s with MIME type %s with 415', (filename, mimetype) => {
    const refuse = () => resolveFileKind({ filename, mimetype });
    expect(refuse).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 }));
  });

  it('repeats no long text of a client in its refusal', () => {
    const refuse = () =>
      resolveFileKind({ filename: `a.${'b'.repeat(100_000)}`, mimetype: 'x'.repeat(100_000) });
    expect(refuse).toThrow(expect.objectContaining({ message: expect.stringMatching(/^.{1,600}$/) }));
  });
});
