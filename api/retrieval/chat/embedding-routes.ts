import type { Embedder, ModelRegistry } from '../../../activities/ports/models.js';
import { countInSlices } from '../../../activities/text/count-in-slices.js';
import { AppError } from '../../../schemas/app-error.js';
import { EmbeddingAnswer, EmbeddingRequest } from '../../../schemas/retrieval/chat-api.js';
import { jsonList, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import { badRequest } from '../../../schemas/request-issues.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { embeddingInput } from './embedding-input.js';

/**
 * The embedder of a name: an endpoint's, or its model's; the default one when none is given.
 * @throws AppError NOT_FOUND, plain
 */
async function findEmbedder(models: ModelRegistry, name: string | null | undefined): Promise<Embedder> {
  const unknown = new AppError('NOT_FOUND', `Model '${name ?? ''}' not found`, { plain: true });
  if (name == null || name === '') {
    const chosen = await models.defaultName('embedder');
    if (chosen === null) throw unknown;
    return models.embedder(chosen);
  }
  const known = await models.list('embedder');
  const found =
    known.find((endpoint) => endpoint.name === name) ??
    known.find(({ model_name, is_default }) => is_default && model_name === name) ??
    known.find(({ model_name }) => model_name === name);
  if (found === undefined) throw unknown;
  return models.embedder(found.name);
}

/** Little-endian 32-bit floats, as the official clients ask for them. */
function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => bytes.writeFloatLE(value, index * 4));
  return bytes.toString('base64');
}

/** Vectors in the OpenAI format, from the embedders that the documents are indexed with. */
export function embeddingRoutes({ adapters }: GatewayDeps): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/embeddings',
      summary: 'Vectors of texts, of unit length',
      tag: 'Chat',
      auth: 'user',
      request: { body: EmbeddingRequest },
      responses: { 200: { description: 'One vector for each text, in order', schema: EmbeddingAnswer } },
      errors: ['BAD_REQUEST', 'NOT_FOUND', 'PAYLOAD_TOO_LARGE', 'VALIDATION_ERROR', 'EMBEDDING_API_ERROR'],
      async handle({ signal }, { body }) {
        const texts = await embeddingInput(body.input);
        const embedder = await findEmbedder(adapters.models, body.model);
        if (body.dimensions != null && body.dimensions !== embedder.dimension)
          throw badRequest(`'dimensions' must be ${embedder.dimension} for this model`);
        const vectors = await embedder.embed(texts, { kind: 'document', signal });
        let tokens = 0;
        for (const text of texts) tokens += await countInSlices(text, Infinity, signal);
        const written = body.encoding_format === 'base64' ? base64Of : (vector: number[]) => vector;
        async function* rows() {
          for (const [index, vector] of vectors.entries())
            yield { object: 'embedding', index, embedding: written(vector) };
        }
        return jsonList('data', rows(), {
          object: 'list',
          model: body.model == null || body.model === '' ? embedder.modelName : body.model,
          usage: { prompt_tokens: tokens, total_tokens: tokens },
        });
      },
    }),
  ];
}
