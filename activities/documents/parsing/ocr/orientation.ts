/** EXIF's `Orientation`: 1, the rows as they are stored, up to 8; a camera stores the picture as it was held. */
const UPRIGHT = 1;
const ORIENTATION_TAG = 0x0112;
const SHORT = 3;
const EXIF = 'Exif\0\0';

/**
 * How a JPEG has to be turned to be looked at, as its EXIF says; 1 for every other picture. Sources: JPEG (ITU T.81,
 * annex B), EXIF 2.3 (CIPA DC-008, sections 4.5 and 4.6.4), TIFF 6.0 (section 2).
 */
export function orientationOf(image: Buffer): number {
  if (image.length < 4 || image.readUInt16BE(0) !== 0xffd8) return UPRIGHT;
  for (let at = 2; at + 4 <= image.length;) {
    const marker = image[at + 1]!;
    // Behind the start of a scan there is no EXIF.
    if (image[at] !== 0xff || marker === 0xda) return UPRIGHT;
    if (marker === 0xff) {
      at += 1; // a fill byte
      continue;
    }
    const end = at + 2 + image.readUInt16BE(at + 2);
    if (marker === 0xe1 && image.toString('latin1', at + 4, at + 10) === EXIF)
      return orientationIn(image.subarray(at + 10, end));
    at = end;
  }
  return UPRIGHT;
}

/** Of the first directory of a TIFF; what is cut off or no number from 1 to 8 says nothing. */
function orientationIn(tiff: Buffer): number {
  const order = tiff.toString('latin1', 0, 2);
  if (tiff.length < 8 || (order !== 'II' && order !== 'MM')) return UPRIGHT;
  const short = (at: number): number => (order === 'II' ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const directory = order === 'II' ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (directory + 2 > tiff.length) return UPRIGHT;
  const entries = short(directory);
  for (let entry = 0; entry < entries; entry += 1) {
    const at = directory + 2 + 12 * entry;
    if (at + 12 > tiff.length) return UPRIGHT;
    if (short(at) !== ORIENTATION_TAG || short(at + 2) !== SHORT) continue;
    const value = short(at + 8);
    return value >= 1 && value <= 8 ? value : UPRIGHT;
  }
  return UPRIGHT;
}

/**
 * The JPEG with its orientation in front, in the one form that tesseract.js knows: of EXIF it looks for the bytes of
 * this entry, most significant first, among the first 500.
 */
export function withOrientationInFront(jpeg: Buffer, orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write('MM\0*', 'latin1');
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(ORIENTATION_TAG, 10);
  tiff.writeUInt16BE(SHORT, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  const head = Buffer.alloc(4);
  head.writeUInt16BE(0xffe1);
  head.writeUInt16BE(2 + EXIF.length + tiff.length, 2);
  return Buffer.concat([jpeg.subarray(0, 2), head, Buffer.from(EXIF, 'latin1'), tiff, jpeg.subarray(2)]);
}
