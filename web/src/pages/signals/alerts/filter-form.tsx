import { Autocomplete, Button, Collapse, Group, TextInput } from '@mantine/core';
import type { InputWrapperProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { memo, useId } from 'react';
import { useMessages } from '../../../i18n/language';
import { ChoiceBar } from '../../../shared/choice-bar';
import { useNarrow } from '../../../shared/use-narrow';
import { statsQuery } from '../queries';
import { instantOf, localTime, readFilters, withoutEffect, writeFilters } from './address-filters';
import type { Filters } from './address-filters';

interface Props {
  filters: Filters;
  /** The filters as they were when they rested last: what is being typed is no fault yet. */
  settled: Filters;
  onChange: (filters: Filters) => void;
}

/** The fields stand in one line by their lower ends. */
const WRAPPER_ORDER: InputWrapperProps['inputWrapperOrder'] = ['label', 'error', 'input'];

/** Browsers take years of six digits otherwise, which no date is read from. */
const LATEST = '9999-12-31T23:59';

/** Drawn anew for its own props alone, and not with each page of alerts that arrives. */
export const FilterForm = memo(function FilterForm({ filters, settled, onChange }: Props) {
  const { signals: t } = useMessages();
  const stats = useQuery(statsQuery);
  const narrow = useNarrow();
  const idle = withoutEffect(filters);
  // What has no effect is not folded away: its field says so.
  const [opened, { toggle }] = useDisclosure(idle.length > 0);
  const fields = useId();
  const set = (name: keyof Filters) => (value: string) => onChange({ ...filters, [name]: value });
  const settledIdle = withoutEffect(settled);
  const errors = Object.fromEntries(
    idle.filter((name) => settledIdle.includes(name)).map((name) => [name, t.withoutEffect[name]]),
  );
  const text = (name: 'country' | 'ip' | 'machineId', label: string, placeholder = '') => (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={filters[name]}
      error={errors[name]}
      inputWrapperOrder={WRAPPER_ORDER}
      onChange={(event) => set(name)(event.currentTarget.value)}
      style={{ flex: '1 1 120px', maxWidth: 260 }}
    />
  );
  const moment = (name: 'since' | 'until', label: string) => (
    <TextInput
      type="datetime-local"
      max={LATEST}
      label={label}
      error={errors[name]}
      inputWrapperOrder={WRAPPER_ORDER}
      value={localTime(filters[name])}
      onChange={(event) => set(name)(instantOf(event.currentTarget.value))}
      style={{ flex: '1 1 190px', maxWidth: 260 }}
    />
  );
  const active = [...writeFilters({ ...filters, state: 'all' }).keys()].length - idle.length;
  const states = ['all', 'forwarded', 'filtered', 'open'] as const;
  return (
    <>
      <ChoiceBar
        label={t.state}
        choices={states.map((value) => ({ value, label: t.states[value] }))}
        value={filters.state}
        onChange={set('state')}
      />
      {narrow && (
        <Button
          variant="default"
          aria-expanded={opened}
          aria-controls={fields}
          onClick={toggle}
          style={{ alignSelf: 'start' }}
        >
          {active === 0 ? t.filters : `${t.filters} (${active})`}
        </Button>
      )}
      <Collapse id={fields} expanded={!narrow || opened}>
        <Group align="end" gap="sm">
          <Autocomplete
            label={t.scenario}
            data={[...new Set(stats.data?.allScenarios.map(({ scenario }) => scenario) ?? [])]}
            value={filters.scenario}
            onChange={set('scenario')}
            limit={30}
            maxLength={200}
            style={{ flex: '2 1 220px' }}
          />
          {text('country', t.country, t.countryHint)}
          {text('ip', t.address)}
          {text('machineId', t.machine)}
          {moment('since', t.since)}
          {moment('until', t.until)}
          <Button variant="default" onClick={() => onChange(readFilters(new URLSearchParams()))}>
            {t.clearFilters}
          </Button>
        </Group>
      </Collapse>
    </>
  );
});
