import { describe, expect, it } from '@jest/globals';
import {
  kindOfMimetype,
  mimetypeOfKind,
  resolveFileKind,
  supportedTypes,
} from '../../../../activities/documents/parsing/file-types.js';

describe('file types', () => {
  it('names the extensions and MIME types', () => {
    const { extensions, mimetypes } = supportedTypes();
    expect(extensions).toEqual(
      expect.arrayContaining(['txt', 'md', 'html', 'htm', 'pdf', 'docx', 'csv', 'json', 'xml', 'py']),
    );
    expect(new Set(extensions).size).toBe(extensions.length);
    expect(new Set(mimetypes).size).toBe(mimetypes.length);
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
    ['notes.markdown', undefined, 'md'],
    ['server.log', undefined, 'txt'],
    ['notes.text', undefined, 'txt'],
    ['page.xhtml', undefined, 'html'],
    ['main.py', 'application/octet-stream', 'code'],
    ['noextension', 'text/csv', 'csv'],
    ['report.pdf', 'application/x-pdf', 'pdf'],
  ])('takes %s with MIME type %s as %s', (filename, mimetype, kind) => {
    expect(resolveFileKind({ filename, mimetype })).toBe(kind);
  });

  it('puts a type down that gives the kind back', () => {
    for (const extension of supportedTypes().extensions) {
      const kind = resolveFileKind({ filename: `a.${extension}` });
      expect([extension, kindOfMimetype(mimetypeOfKind(kind))]).toEqual([extension, kind]);
    }
  });

  it.each([
    ['letter.wpd', 'Save it as .docx'],
    ['scan.heic', 'Save it as .png'],
    ['all.rar', 'pack it as .zip'],
  ])('says of %s what can be done', (filename, advice) => {
    expect(() => resolveFileKind({ filename })).toThrow(advice);
  });

  it.each([
    ['virus.exe', undefined],
    ['noextension', undefined],
    ['noextension', 'application/octet-stream'],
    ['picture.xyz', 'image/x-odd'],
  ])('refuses %s with MIME type %s with 415', (filename, mimetype) => {
    const refuse = () => resolveFileKind({ filename, mimetype });
    expect(refuse).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 }));
  });

  it('reads no pictures without OCR, and says why', () => {
    const abilities = { noOcr: 'OCR is off.', noTranscription: null, noLibreOffice: null };
    expect(() => resolveFileKind({ filename: 'scan.png' }, abilities)).toThrow(
      expect.objectContaining({
        code: 'UNSUPPORTED_MEDIA_TYPE',
        message: expect.stringContaining('OCR is off.'),
      }),
    );
    const { extensions, mimetypes } = supportedTypes(abilities);
    expect(extensions).toContain('pdf');
    expect(
      [...extensions, ...mimetypes].filter((type) => /png|jpe?g|tif|^image\/(?!svg)/.test(type)),
    ).toEqual([]);
    expect(supportedTypes().extensions).toEqual(expect.arrayContaining(['png', 'jpg', 'tiff', 'bmp']));
  });

  it('takes no recordings without a model that transcribes, and says why', () => {
    const abilities = { noOcr: null, noTranscription: 'No speech model.', noLibreOffice: null };
    expect(() => resolveFileKind({ filename: 'talk.mp3' }, abilities)).toThrow(
      expect.objectContaining({
        code: 'UNSUPPORTED_MEDIA_TYPE',
        message: expect.stringContaining('No speech model.'),
      }),
    );
    const { extensions, mimetypes } = supportedTypes(abilities);
    expect(extensions).toContain('png');
    expect(
      [...extensions, ...mimetypes].filter((type) => /mp[34]|wav|^(?:audio|video)\//.test(type)),
    ).toEqual([]);
    expect(supportedTypes().extensions).toEqual(expect.arrayContaining(['mp3', 'wav', 'mp4', 'webm']));
  });

  it('takes RTF and PPT only with LibreOffice, and says so', () => {
    const abilities = { noOcr: null, noTranscription: null, noLibreOffice: 'Install LibreOffice.' };
    for (const filename of ['letter.rtf', 'slides.ppt'])
      expect(() => resolveFileKind({ filename }, abilities)).toThrow('Install LibreOffice.');
    expect(supportedTypes(abilities).extensions).not.toEqual(expect.arrayContaining(['rtf']));
    expect(supportedTypes().extensions).toEqual(expect.arrayContaining(['rtf', 'ppt']));
  });

  it('repeats no long text of a client in its refusal', () => {
    const refuse = () =>
      resolveFileKind({ filename: `a.${'b'.repeat(100_000)}`, mimetype: 'x'.repeat(100_000) });
    expect(refuse).toThrow(expect.objectContaining({ message: expect.stringMatching(/^.{1,600}$/) }));
  });
});
