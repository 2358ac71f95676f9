import { Alert, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import type { Preset } from './queries';
import { configText, PresetChanged, savePreset } from './save-preset';
import type { PresetValues } from './save-preset';
import { useSaveModel } from './use-save-model';

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

export function PresetEditor({ preset, onClose }: Props) {
  const { operations: t, common } = useMessages();
  // What the change follows is what was there when the editor was opened.
  const [base] = useState(preset);
  const form = useForm<PresetValues>({
    initialValues: {
      name: preset?.name ?? '',
      type: preset?.preset_type ?? 'retrieval',
      config: configText(preset),
    },
    validate: { config: (config) => (isJsonObject(config) ? null : t.noJsonObject) },
  });
  const change = useSaveModel((values: PresetValues) => savePreset(base, values), onClose);
  const isOutdated = change.error instanceof PresetChanged;
  return (
    <FormModal
      title={preset === null ? t.newPreset : t.editPreset(preset.name)}
      opened
      onClose={onClose}
      onSubmit={form.onSubmit((values) => change.mutate(values))}
      submit={common.save}
      pending={change.isPending}
      error={isOutdated ? null : change.error}
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
      {isOutdated && (
        <Alert color="red" variant="outline" role="alert">
          {t.presetChanged}
        </Alert>
      )}
    </FormModal>
  );
}
