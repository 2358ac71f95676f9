import { Button, Center, Group, Loader, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { ErrorNotice } from '../../../shared/error-notice';
import { Page } from '../../../shared/page';
import { useAddressState } from '../../../shared/use-address-state';
import { queryOf, readFilters, writeFilters } from './address-filters';
import { AlertsTable } from './alerts-table';
import { FilterForm } from './filter-form';
import { useAlertList } from './use-alert-list';

const ADDRESS = { read: readFilters, write: writeFilters, pauseMs: 500 };

function AlertsPage() {
  const { signals: t, common } = useMessages();
  const format = useFormat();
  const [filters, setFilters, settled] = useAddressState(ADDRESS);
  const query = useMemo(() => queryOf(settled), [settled]);
  const { list, alerts, arrived, countsUpTo, showNew, more } = useAlertList(query);
  const newCount = arrived >= countsUpTo ? `${format.number(arrived)}+` : format.number(arrived);
  return (
    <Page title={t.alerts} hint={t.alertsHint}>
      <FilterForm filters={filters} settled={settled} onChange={setFilters} />
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
      ) : alerts.length > 0 ? (
        <AlertsTable alerts={alerts} onEnd={more} />
      ) : (
        list.isSuccess && <Empty title={t.noAlerts}>{t.noAlertsHint}</Empty>
      )}
    </Page>
  );
}

export default AlertsPage;
