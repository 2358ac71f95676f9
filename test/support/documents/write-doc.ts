import { CFB } from '@e965/xlsx';

/** Behind the header. */
const TEXT_AT = 2048;

/** A document of Word 97: the header of the main stream, one piece of text, and the table that says where it is. */
export function writeDoc(text: string, footnotes = ''): Buffer {
  // The last part ends with a paragraph of its own.
  const notes = footnotes === '' ? '' : `${footnotes}\r\r`;
  const body = `${text}\r`;
  const all = Buffer.from(body + notes, 'utf16le');
  const main = Buffer.concat([Buffer.alloc(TEXT_AT), all, Buffer.alloc(4096)]);
  main.writeUInt16LE(0xa5ec, 0);
  main.writeUInt16LE(193, 2);
  main.writeUInt16LE(0x0200, 10); // the table is in the stream `1Table`
  main.writeUInt32LE(TEXT_AT, 0x18);
  main.writeUInt32LE(TEXT_AT + all.length, 0x1c);
  main.writeUInt32LE(body.length, 0x4c);
  main.writeUInt32LE(notes.length, 0x50);
  const pieces = Buffer.alloc(4096);
  main.writeUInt32LE(0, 0x1a2);
  main.writeUInt32LE(21, 0x1a6);
  pieces.writeUInt8(2, 0);
  pieces.writeUInt32LE(16, 1);
  pieces.writeUInt32LE(0, 5);
  pieces.writeUInt32LE(body.length + notes.length, 9);
  pieces.writeUInt32LE(TEXT_AT, 15);
  const file = CFB.utils.cfb_new();
  CFB.utils.cfb_add(file, '/WordDocument', main);
  CFB.utils.cfb_add(file, '/1Table', pieces);
  return CFB.write(file, { type: 'buffer' }) as Buffer;
}
