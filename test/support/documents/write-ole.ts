/**
 * An OLE container (MS-CFB) with nothing but its directory, of at most four entries.
 * @param before sectors that lie in front of the directory
 */
export function writeOle(names: string[], before = 0): Buffer {
  const header = Buffer.alloc(512);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(header);
  header.writeUInt16LE(9, 30); // sectors of 512 bytes
  header.writeUInt32LE(1 + before, 48); // where the directory begins
  header.writeUInt32LE(0, 76); // the table of sectors is sector 0
  const table = Buffer.alloc(512, 0xff);
  table.writeUInt32LE(0xfffffffe, 4);
  const directory = Buffer.alloc(512);
  names.forEach((name, i) => {
    directory.write(name, i * 128, 'utf16le');
    directory.writeUInt16LE(name.length * 2 + 2, i * 128 + 64);
  });
  return Buffer.concat([header, table, Buffer.alloc(before * 512), directory]);
}
