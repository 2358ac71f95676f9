import type { IndexationConfig } from '../../schemas/presets.js';
import type { EnrichmentStage } from '../../schemas/tasks.js';

/** Formats that may hold pictures. */
const WITH_PICTURES = new Set([
  'application/pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
]);

/** What a preset wants done to a document between reading and embedding, in this order. */
export const enrichmentsOf = (
  config: IndexationConfig | undefined,
  upload: { mimetype: string },
): EnrichmentStage[] => {
  if (config === undefined) return [];
  const stages: EnrichmentStage[] = [];
  if (config.enable_image_captioning && WITH_PICTURES.has(upload.mimetype)) stages.push('caption');
  if (config.enable_contextualization && config.contextualization_mode !== 'none')
    stages.push('contextualize');
  if (config.enable_topic_tagging) stages.push('topic_tag');
  return stages;
};
