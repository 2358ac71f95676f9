import { abilitiesOf } from '../parsing/abilities.js';
import type { Abilities } from '../parsing/file-types.js';
import type { Config } from '../../../schemas/config/config.js';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import type { Adapters } from '../../ports/adapters.js';

type Deps = {
  adapters: Pick<Adapters, 'models' | 'presets'>;
  config: Pick<Config, 'parsing'>;
};

type Preset = Pick<PartitionRecord, 'indexation_preset'>;

/**
 * What can be indexed at this moment: by the settings, what is installed, and which models are registered.
 * @param partition whose preset may name a transcription model of its own
 */
export async function serverAbilities(
  { adapters, config }: Deps,
  partition: Preset | null,
): Promise<Abilities> {
  const named = partition === null ? null : await ownTranscriber(adapters, partition);
  const transcriber = named ?? (await adapters.models.defaultName('stt'));
  return abilitiesOf({ ...config.parsing, transcriber: transcriber !== null });
}

async function ownTranscriber(
  { presets }: Deps['adapters'],
  { indexation_preset: preset }: Preset,
): Promise<string | null> {
  return (await presets.get('indexation', preset))?.config.stt ?? null;
}
