import { SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { send } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import type { Preset } from './queries';
import { useSaveModel } from './use-save-model';

interface Values {
  name: string;
  type: Preset['preset_type'];
  config: string;
}

interface Props {
  /** Null: a new one. */
  preset: Preset | null;
  onClose: () => void;
}

function isJsonObject(text: string): boolean {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * What is sent takes the place of the whole configuration; what cannot be is refused by the server with its field.
 * Answers its warnings.
 */
async function save(preset: Preset | null, { name, type, config }: Values): Promise<readonly string[]> {
  const path = preset === null ? '/presets/' : `/presets/${type}/${encodeURIComponent(preset.name)}`;
  const response = await send(path, {
    method: preset === null ? 'POST' : 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      name,
      ...(preset === null ? { preset_type: type } : {}),
      config: JSON.parse(config) as unknown,
    }),
  });
  return ((await response.json()) as Preset).warnings ?? [];
}

export function PresetEditor({ preset, onClose }: Props) {
  const { operations: t, common } = useMessages();
  const form = useForm<Values>({
    initialValues: {
      name: preset?.name ?? '',
      type: preset?.preset_type ?? 'retrieval',
      config: JSON.stringify(preset?.config ?? {}, null, 2),
    },
    validate: { config: (config) => (isJsonObject(config) ? null : t.noJsonObject) },
  });
  const change = useSaveModel((values: Values) => save(preset, values), onClose);
  return (
    <FormModal
      title={preset === null ? t.newPreset : t.editPreset(preset.name)}
      opened
      onClose={onClose}
      onSubmit={form.onSubmit((values) => change.mutate(values))}
      submit={common.save}
      pending={change.isPending}
      error={change.error}
      size="lg"
    >
      {preset === null && (
        <SegmentedControl
          aria-label={t.kind}
          data={(['retrieval', 'indexation'] as const).map((value) => ({
            value,
            label: t.presetKinds[value],
          }))}
          {...form.getInputProps('type')}
        />
      )}
      <TextInput label={common.name} required data-autofocus {...form.getInputProps('name')} />
      <Textarea
        label={t.presetConfig}
        description={t.presetConfigHint}
        autosize
        minRows={6}
        maxRows={24}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        {...form.getInputProps('config')}
      />
    </FormModal>
  );
}
