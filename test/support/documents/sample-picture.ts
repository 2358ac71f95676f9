import { writePng } from '../../../activities/documents/parsing/pictures/write-png.js';

/** A picture of so many pixels of one colour; another shade, another picture. */
export function samplePixels(width: number, height: number, shade: number): Buffer {
  return Buffer.alloc(width * height * 3, shade);
}

export function samplePng(shade: number, width = 64, height = 48): Buffer {
  return writePng({ width, height, channels: 3, data: samplePixels(width, height, shade) });
}

/** A PNG whose header promises more than there is. */
export function declaringPng(width: number, height: number): Buffer {
  const png = samplePng(7);
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png;
}

export function dataUri(picture: Buffer, mimetype = 'image/png'): string {
  return `data:${mimetype};base64,${picture.toString('base64')}`;
}
