import { SegmentedControl } from '@mantine/core';
import { useNarrow } from './use-narrow';

interface Props<T extends string> {
  label: string;
  choices: readonly { value: T; label: string }[];
  value: T;
  onChange: (value: T) => void;
}

/** One of a few, all of which are in sight: on a narrow screen they stand closer together. */
export function ChoiceBar<T extends string>({ label, choices, value, onChange }: Props<T>) {
  const narrow = useNarrow();
  return (
    <SegmentedControl
      aria-label={label}
      data={[...choices]}
      value={value}
      onChange={onChange}
      size={narrow ? 'xs' : 'sm'}
      styles={narrow ? { label: { paddingInline: 6 } } : {}}
      style={{ alignSelf: 'start', maxWidth: '100%', overflowX: 'auto' }}
    />
  );
}
