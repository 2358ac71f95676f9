import { Button, Center, Group, Loader, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useMemo, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { ErrorNotice } from '../../../shared/error-notice';
import { Page } from '../../../shared/page';
import { queryOf, readFilters, writeFilters } from './address-filters';
import { AlertsTable } from './alerts-table';
import { FilterForm } from './filter-form';
import { useAlertList } from './use-alert-list';

const PAUSE_MS = 500;

function AlertsPage() {
  const { signals: t, common } = useMessages();
  const format = useFormat();
  const [address, setAddress] = useSearchParams();
  const [filters, setFilters] = useState(() => readFilters(address));
  const [settled] = useDebouncedValue(filters, PAUSE_MS);
  useEffect(() => {
    setAddress(new URLSearchParams(writeFilters(settled)), { replace: true });
  }, [settled, setAddress]);
  const query = useMemo(() => queryOf(settled), [settled]);
  const { list, alerts, arrived, countsUpTo, showNew, more } = useAlertList(query);
  const newCount = arrived >= countsUpTo ? `${format.number(arrived)}+` : format.number(arrived);
  return (
    <Page title={t.alerts} hint={t.alertsHint}>
      <FilterForm filters={filters} onChange={setFilters} />
      {list.isError && <ErrorNotice error={list.error} retry={() => void list.refetch()} />}
      <Group justify="space-between" mih={36}>
        <Text size="sm" c="dimmed">
          {t.shownAlerts(format.number(alerts.length))}
          {list.isFetching && <Loader size="xs" ml="xs" aria-label={common.loading} />}
        </Text>
        <div aria-live="polite">
          {arrived > 0 && (
            <Button size="sm" onClick={showNew}>
              {t.newAlerts(newCount)}
            </Button>
          )}
        </div>
      </Group>
      {list.isPending ? (
        <Center py="xl">
          <Loader aria-label={common.loading} />
        </Center>
      ) : alerts.length === 0 ? (
        <Empty title={t.noAlerts}>{t.noAlertsHint}</Empty>
      ) : (
        <AlertsTable alerts={alerts} onEnd={more} />
      )}
    </Page>
  );
}

export default AlertsPage;
