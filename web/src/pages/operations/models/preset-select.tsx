import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { presetsQuery } from './queries';
import type { Preset } from './queries';

interface Props {
  type: Preset['preset_type'];
  label: string;
  /** What it is called to choose none; without it one has to be chosen. */
  none?: string;
  value: string | null;
  onChange: (preset: string | null) => void;
}

/** The presets of a kind by their names, which administrators alone know. */
export function PresetSelect({ type, label, none, value, onChange }: Props) {
  const presets = useQuery(presetsQuery);
  const names = (presets.data ?? []).filter((one) => one.preset_type === type).map(({ name }) => name);
  const known = value === null || names.includes(value) ? names : [value, ...names];
  return (
    <Select
      label={label}
      data={[
        ...(none === undefined ? [] : [{ value: '', label: none }]),
        ...known.map((name) => ({ value: name, label: name })),
      ]}
      value={value ?? ''}
      onChange={(chosen) => onChange(chosen === '' ? null : chosen)}
      allowDeselect={false}
    />
  );
}
