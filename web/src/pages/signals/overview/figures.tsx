import { Paper, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { to, withQuery } from '../../../shared/routes';
import { Time } from '../../../shared/time';
import type { Forwarding } from '../queries';

interface FigureProps {
  label: string;
  value: number;
  href: string;
  more?: ReactNode;
}

function Figure({ label, value, href, more }: FigureProps) {
  const format = useFormat();
  return (
    <Paper withBorder p="md" component={Link} href={href} c="inherit" style={{ textDecoration: 'none' }}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text fw={700} fz={28} lh={1.2}>
        {format.number(value)}
      </Text>
      {more !== undefined && (
        <Text size="sm" c="dimmed" component="div">
          {more}
        </Text>
      )}
    </Paper>
  );
}

interface Props {
  stats: { total: number; filtered: number; forwarded: number };
  forwarding: Forwarding | undefined;
}

/** The oldest signal that waits at any watcher. */
function oldestOf(forwarding: Forwarding): string | undefined {
  return forwarding.watchers.flatMap(({ oldest }) => oldest ?? []).sort()[0];
}

export function Figures({ stats, forwarding }: Props) {
  const { signals: t } = useMessages();
  const oldest = forwarding && oldestOf(forwarding);
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }}>
      <Figure label={t.accepted} value={stats.total} href={to.alerts} />
      <Figure label={t.filtered} value={stats.filtered} href={withQuery(to.alerts, { state: 'filtered' })} />
      <Figure
        label={t.forwarded}
        value={stats.forwarded}
        href={withQuery(to.alerts, { state: 'forwarded' })}
      />
      {forwarding && (
        <>
          <Figure
            label={t.waiting}
            value={forwarding.withheld.waiting}
            href={withQuery(to.alerts, { state: 'open' })}
            more={
              oldest !== undefined && (
                <>
                  {t.waitingSince} <Time at={oldest} />
                </>
              )
            }
          />
          <Figure label={t.quarantined} value={forwarding.withheld.quarantined} href={to.forwarding} />
        </>
      )}
    </SimpleGrid>
  );
}
