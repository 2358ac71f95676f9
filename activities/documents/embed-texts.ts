import { AppError } from '../../schemas/app-error.js';
import type { Embedder } from '../ports/models.js';

/**
 * The vectors of texts that will be stored, one each, in their order.
 * @throws AppError of the embedder, as its port says; EMBEDDING_RESPONSE_ERROR when there are fewer
 */
export async function embedTexts(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<number[][]> {
  const vectors = await embedder.embed(texts, { kind: 'document', signal });
  if (vectors.length < texts.length)
    throw new AppError(
      'EMBEDDING_RESPONSE_ERROR',
      'The embedding provider answered fewer vectors than texts.',
    );
  return vectors;
}
