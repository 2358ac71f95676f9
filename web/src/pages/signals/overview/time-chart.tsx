import { Text, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useEffectEvent, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useLocation } from 'wouter';
import { useFormat } from '../../../i18n/format';
import { useLanguage } from '../../../i18n/language';
import { to, withQuery } from '../../../shared/routes';
import type { Period } from '../queries';
import { More } from '../../../shared/more';
import { DayLinks } from './day-links';
import { daysBetween, fillDays } from './fill-days';

interface Props {
  days: readonly { date: string; count: number }[];
  period: Period;
}

const HEIGHT = 240;
/** Less than that is a click on a day. */
const DRAGGED_PX = 4;

function colours(dark: boolean) {
  return dark
    ? { text: '#c9c9c9', grid: '#3b3b3b', bar: '#22b8cf' }
    : { text: '#495057', grid: '#e9ecef', bar: '#0b7285' };
}

/** Alerts of each day; a click on a day, or a range that is dragged over several, leads to their list. */
function TimeChart({ days, period }: Props) {
  const { messages, language } = useLanguage();
  const t = messages.signals;
  const format = useFormat();
  const [, navigate] = useLocation();
  const { ref, width } = useElementSize();
  const frame = useRef<HTMLDivElement>(null);
  const dark = useComputedColorScheme('light') === 'dark';
  const data = useMemo(() => fillDays(days, period, Date.now()), [days, period]);
  const choose = useEffectEvent((from: number, until: number) =>
    navigate(withQuery(to.alerts, daysBetween(from, until))),
  );
  useEffect(() => {
    if (frame.current === null || width === 0) return;
    const { text, grid, bar } = colours(dark);
    const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    const date = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' });
    const named = (seconds: number) => date.format(new Date(seconds * 1000));
    const options: uPlot.Options = {
      width,
      height: HEIGHT,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      axes: [
        {
          ...axis,
          incrs: [86_400, 7 * 86_400, 30 * 86_400, 90 * 86_400],
          values: (_chart, at) => at.map(named),
        },
        { ...axis, size: 60, values: (_chart, at) => at.map((count) => count.toLocaleString(language)) },
      ],
      scales: {
        // Room for the halves of the first and the last bar.
        x: { range: (_chart, first, last) => [first - 43_200, last + 43_200] },
        y: { range: (_chart, _least, most) => [0, Math.max(5, most * 1.1)] },
      },
      series: [
        { label: t.day, value: (_chart, at) => (at === null ? '' : named(at)) },
        {
          label: t.count,
          stroke: bar,
          fill: bar,
          ...(uPlot.paths.bars ? { paths: uPlot.paths.bars({ size: [0.8, 40] }) } : {}),
          points: { show: false },
        },
      ],
      cursor: { drag: { x: true, y: false, setScale: false } },
      hooks: {
        ready: [
          (chart) => {
            let pressedAt = 0;
            chart.over.addEventListener('mousedown', ({ clientX }) => (pressedAt = clientX));
            chart.over.addEventListener('click', ({ clientX }) => {
              const at = data[0][chart.cursor.idx ?? -1];
              if (at !== undefined && Math.abs(clientX - pressedAt) < DRAGGED_PX) choose(at, at);
            });
          },
        ],
        setSelect: [
          (chart) => {
            const { left, width: chosen } = chart.select;
            if (chosen > 0) choose(chart.posToVal(left, 'x'), chart.posToVal(left + chosen, 'x'));
          },
        ],
      },
    };
    const chart = new uPlot(options, data, frame.current);
    return () => chart.destroy();
  }, [data, width, dark, language, t]);
  const total = data[1].reduce((sum, count) => sum + count, 0);
  const summary = t.perDaySummary(format.number(total), format.number(data[0].length));
  return (
    <div ref={ref}>
      <div
        ref={frame}
        role="img"
        aria-label={`${t.perDay}${messages.common.colon}${summary}`}
        style={{ minHeight: HEIGHT }}
      />
      <Text size="sm" c="dimmed">
        {summary}. {t.perDayHint}
      </Text>
      <More label={t.perDayList}>
        <DayLinks times={data[0]} counts={data[1]} />
      </More>
    </div>
  );
}

export default TimeChart;
