import type { z } from 'zod';
import type { Adapters } from '../../../activities/ports/adapters.js';
import type { IndexedEmbedder } from '../../../schemas/documents/partitions-api.js';

/**
 * The embedders that made the vectors of a partition's files, by name. What only the endpoint's record tells is null
 * when the endpoint is not registered any more.
 */
export async function listIndexedEmbedders(
  { files, models }: Pick<Adapters, 'files' | 'models'>,
  partition: string,
): Promise<z.input<typeof IndexedEmbedder>[]> {
  const [counts, endpoints] = await Promise.all([files.countEmbedders(partition), models.list('embedder')]);
  const registered = new Map(endpoints.map((endpoint) => [endpoint.name, endpoint]));
  return [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([embedder, file_count]) => {
      const endpoint = registered.get(embedder);
      return {
        embedder,
        model_name: endpoint?.model_name ?? null,
        dimension: endpoint?.dimension ?? null,
        file_count,
        vector_field: endpoint?.vector_field ?? null,
      };
    });
}
