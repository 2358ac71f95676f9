import { Checkbox, Group, Loader, MultiSelect, Select, Stack, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { useSession } from '../../../api/session';
import { useMessages } from '../../../i18n/language';
import { Icon } from '../../../shared/icons';
import { More } from '../../../shared/more';
import { partitionsQuery } from '../queries';
import { ConditionForm } from './condition-form';

export interface Asked {
  text: string;
  partitions: string[];
  filter: string;
  count: number;
  trace: boolean;
}

interface Props {
  asked: Asked;
  onChange: (asked: Asked) => void;
  busy: boolean;
}

export function SearchForm({ asked, onChange, busy }: Props) {
  const { ask: t, common } = useMessages();
  const input = useRef<HTMLInputElement>(null);
  const partitions = useQuery(partitionsQuery);
  const admin = useSession().data?.user?.is_admin === true;
  // With a key that types no letter: speech and single-key users would come here by accident.
  useHotkeys([['mod+K', () => input.current?.focus()]], []);
  return (
    <Stack gap="xs">
      <TextInput
        ref={input}
        aria-keyshortcuts="Control+K Meta+K"
        size="md"
        label={t.searchFor}
        type="search"
        autoFocus
        leftSection={<Icon name="search" />}
        rightSection={busy && <Loader size="xs" aria-label={common.loading} />}
        value={asked.text}
        onChange={(event) => onChange({ ...asked, text: event.currentTarget.value })}
      />
      <Group align="start" gap="sm">
        <MultiSelect
          label={t.inPartitions}
          placeholder={asked.partitions.length === 0 ? t.allPartitions : ''}
          data={partitions.data?.map(({ partition }) => partition) ?? asked.partitions}
          value={asked.partitions}
          onChange={(chosen) => onChange({ ...asked, partitions: chosen })}
          searchable
          clearable
          style={{ flex: '1 1 260px' }}
        />
        <TextInput
          label={t.filter}
          placeholder={t.filterHint}
          value={asked.filter}
          onChange={(event) => onChange({ ...asked, filter: event.currentTarget.value })}
          style={{ flex: '2 1 320px' }}
          maxLength={2048}
        />
        <Select
          label={t.results}
          data={['5', '10', '20', '50']}
          value={String(asked.count)}
          onChange={(count) => onChange({ ...asked, count: Number(count ?? 10) })}
          allowDeselect={false}
          w={160}
        />
      </Group>
      <More label={t.filterByForm}>
        <ConditionForm filter={asked.filter} onChange={(filter) => onChange({ ...asked, filter })} />
      </More>
      {admin && (
        <Checkbox
          label={t.trace}
          checked={asked.trace}
          onChange={(event) => onChange({ ...asked, trace: event.currentTarget.checked })}
        />
      )}
    </Stack>
  );
}
