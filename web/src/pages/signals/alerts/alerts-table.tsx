import { Anchor } from '@mantine/core';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { to } from '../../../shared/routes';
import { Time } from '../../../shared/time';
import { VirtualTable } from '../../../shared/virtual-table';
import type { Column } from '../../../shared/virtual-table';
import type { Alert } from '../queries';
import { AlertState } from './alert-state';

interface Props {
  alerts: readonly Alert[];
  onEnd: () => void;
}

export function AlertsTable({ alerts, onEnd }: Props) {
  const { signals: t, common } = useMessages();
  const format = useFormat();
  const columns = useMemo(
    (): Column<Alert>[] => [
      {
        key: 'received',
        header: t.received,
        width: '150px',
        cell: ({ receivedAt }) => <Time at={receivedAt} />,
      },
      {
        key: 'scenario',
        header: t.scenario,
        width: 'minmax(220px, 3fr)',
        cell: ({ id, scenario }) => (
          <Anchor component={Link} href={to.alert(id)} size="sm" title={scenario}>
            {scenario || t.alert(id)}
          </Anchor>
        ),
      },
      {
        key: 'source',
        header: t.source,
        width: 'minmax(140px, 1.5fr)',
        cell: ({ sourceValue, sourceIp }) => sourceValue ?? sourceIp ?? '',
      },
      {
        key: 'country',
        header: t.country,
        width: 'minmax(90px, 1fr)',
        cell: ({ geoCountryCode: code }) => (code === null ? '' : format.country(code)),
      },
      {
        key: 'machine',
        header: t.machine,
        width: 'minmax(90px, 1fr)',
        cell: ({ machineId }) => machineId ?? '',
      },
      {
        key: 'decisions',
        header: t.decisions,
        width: '90px',
        cell: ({ hasDecisions }) => (hasDecisions === true ? common.yes : common.no),
      },
      {
        key: 'state',
        header: t.state,
        width: '190px',
        cell: (alert) => <AlertState alert={alert} />,
      },
    ],
    [t, common, format],
  );
  return (
    <VirtualTable
      {...{ label: t.alerts, rows: alerts, columns, onEnd, minWidth: 1020 }}
      rowKey={({ id }) => id}
    />
  );
}
