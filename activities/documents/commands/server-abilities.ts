import { abilitiesOf } from '../parsing/abilities.js';
import type { Abilities } from '../parsing/file-types.js';
import type { Config } from '../../../schemas/config/config.js';
import type { Adapters } from '../../ports/adapters.js';

type Deps = {
  adapters: Pick<Adapters, 'models' | 'partitions' | 'presets'>;
  config: Pick<Config, 'parsing'>;
};

/**
 * What can be indexed at this moment: by the settings, what is installed, and which models are registered.
 * @param partition whose preset may name a transcription model of its own
 */
export async function serverAbilities(
  { adapters, config }: Deps,
  partition: string | null,
): Promise<Abilities> {
  const named = partition === null ? null : await ownTranscriber(adapters, partition);
  const transcriber = named ?? (await adapters.models.defaultName('stt'));
  return abilitiesOf({ ...config.parsing, transcriber: transcriber !== null });
}

async function ownTranscriber(
  { partitions, presets }: Deps['adapters'],
  partition: string,
): Promise<string | null> {
  const preset = (await partitions.get(partition))?.indexation_preset;
  return preset === undefined ? null : ((await presets.get('indexation', preset))?.config.stt ?? null);
}
