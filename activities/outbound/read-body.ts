/**
 * The whole body of an answer.
 * @param tooLarge makes what is thrown when it has more bytes; the rest is left unread
 */
export async function readWhole(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

/**
 * The first bytes of an answer's body; the rest is left unread.
 * @param options.evenIfCut what came before the connection failed is taken for the body, instead of throwing
 */
export async function readStart(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  { evenIfCut = false }: { evenIfCut?: boolean } = {},
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxBytes) break;
    }
  } catch (error) {
    if (!evenIfCut) throw error;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
