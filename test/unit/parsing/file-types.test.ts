import { describe, expect, it } from '@jest/globals';
import { resolveFileKind, supportedTypes } from '../../../activities/parsing/file-types.js';

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
    ['notes.txt', 'application/pdf', 'pdf'],
  ])('takes %s with MIME type %s as %s', (filename, mimetype, kind) => {
    expect(resolveFileKind({ filename, mimetype })).toBe(kind);
  });

  it.each([
    ['virus.exe', undefined],
    ['noextension', undefined],
    ['notes.txt', 'image/png'],
  ])('refuses %s with MIME type %s with 415', (filename, mimetype) => {
    const refuse = () => resolveFileKind({ filename, mimetype });
    expect(refuse).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 }));
  });
});
