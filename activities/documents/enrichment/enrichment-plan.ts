import type { IndexationConfig } from '../../../schemas/models/presets.js';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import type { EnrichmentStage, PictureCount } from '../../../schemas/documents/tasks.js';
import type { Adapters } from '../../ports/adapters.js';
import type { FileKind } from '../parsing/file-types.js';

/** What the indexation preset of a partition says; undefined when either is gone. */
export async function presetOf(
  { presets }: Pick<Adapters, 'presets'>,
  partition: PartitionRecord | null,
): Promise<IndexationConfig | undefined> {
  const name = partition?.indexation_preset;
  return name === undefined ? undefined : (await presets.get('indexation', name))?.config;
}

/** Formats that may hold pictures, and those that are one. */
const WITH_PICTURES: ReadonlySet<FileKind> = new Set([
  'pdf',
  'docx',
  'html',
  'md',
  'rtf',
  'pptx',
  'ppt',
  'odp',
  'odt',
  'epub',
  'png',
  'jpeg',
  'gif',
  'webp',
  'bmp',
  'tiff',
]);

/** Whether a document's pictures are to be taken out when it is read. */
export function wantsPictures(config: IndexationConfig | undefined, kind: FileKind): boolean {
  return config?.enable_image_captioning === true && WITH_PICTURES.has(kind);
}

/**
 * The stages that a preset puts between parsing and embedding, in this order.
 * @param pictures that were come upon, where they are wanted
 */
export function enrichmentsOf(
  config: IndexationConfig | undefined,
  pictures: PictureCount | undefined,
): EnrichmentStage[] {
  if (config === undefined) return [];
  const stages: EnrichmentStage[] = [];
  if (config.enable_image_captioning && pictures !== undefined && pictures.kept + pictures.leftOut > 0)
    stages.push('caption');
  if (config.enable_contextualization) stages.push('contextualize');
  if (config.enable_topic_tagging) stages.push('topic_tag');
  return stages;
}
