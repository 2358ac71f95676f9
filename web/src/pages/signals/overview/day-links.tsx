import { Anchor, Group } from '@mantine/core';
import { Link } from 'wouter';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { to, withQuery } from '../../../shared/routes';
import { daysBetween } from './fill-days';

const MAX_LINKS = 100;

/** The days of the chart as links, the newest first: for the keyboard and screen readers. */
export function DayLinks({ times, counts }: { times: readonly number[]; counts: readonly number[] }) {
  const { signals: t } = useMessages();
  const format = useFormat();
  const days = times
    .map((time, index) => ({ time, count: counts[index] ?? 0 }))
    .filter(({ count }) => count > 0)
    .reverse()
    .slice(0, MAX_LINKS);
  return (
    <Group component="nav" gap="sm" aria-label={t.perDay} mt={4}>
      {days.map(({ time, count }) => (
        <Anchor key={time} component={Link} href={withQuery(to.alerts, daysBetween(time, time))} size="sm">
          {t.countryCount(format.day(time), format.number(count))}
        </Anchor>
      ))}
    </Group>
  );
}
