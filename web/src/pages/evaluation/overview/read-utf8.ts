/** A file whose bytes are no text in UTF-8, such as a CSV that Excel wrote in the encoding of the system. */
export class NotUtf8 extends Error {
  override readonly name = 'NotUtf8';
}

/**
 * The text of a file, where `File.text` would replace each byte that it cannot read.
 * @throws NotUtf8
 */
export async function readUtf8(file: Blob): Promise<string> {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new NotUtf8();
  }
}
