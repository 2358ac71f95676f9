import type { LiveSample, SoakSample } from './soak-campaign.js';

const WIDTH = 960;
const HEIGHT = 360;
const MARGIN = { left: 60, right: 190, top: 20, bottom: 40 };

interface Line {
  label: string;
  colour: string;
  dash?: string;
  points: { second: number; mib: number }[];
}

/** The memory of a soak as an SVG: minutes to the right, MiB upwards. */
export function drawSoak(samples: readonly SoakSample[], live: readonly LiveSample[]): string {
  const of = <Sample extends { second: number }>(
    all: readonly Sample[],
    mib: (sample: Sample) => number,
  ): Line['points'] => all.map((sample) => ({ second: sample.second, mib: mib(sample) }));
  const lines: Line[] = [
    { label: 'worker', colour: '#0b62a4', points: of(samples, ({ worker }) => worker) },
    { label: 'parsers together', colour: '#4d8f2c', points: of(samples, ({ parsers }) => parsers) },
    { label: 'gateway', colour: '#b3531e', points: of(samples, ({ gateway }) => gateway) },
    { label: 'worker, live', colour: '#0b62a4', dash: '4 4', points: of(live, ({ worker }) => worker) },
    { label: 'gateway, live', colour: '#b3531e', dash: '4 4', points: of(live, ({ gateway }) => gateway) },
  ];
  const end = Math.max(...samples.map(({ second }) => second));
  const top = 50 * Math.ceil(Math.max(...lines.flatMap(({ points }) => points.map(({ mib }) => mib))) / 50);
  const x = (second: number): string =>
    (MARGIN.left + (second / end) * (WIDTH - MARGIN.left - MARGIN.right)).toFixed(1);
  const y = (mib: number): string =>
    (HEIGHT - MARGIN.bottom - (mib / top) * (HEIGHT - MARGIN.top - MARGIN.bottom)).toFixed(1);
  const rows = Array.from({ length: 6 }, (_, step) => (top * step) / 5).map(
    (mib) =>
      `<line x1="${x(0)}" x2="${x(end)}" y1="${y(mib)}" y2="${y(mib)}" stroke="#ccc"/>` +
      `<text x="${MARGIN.left - 8}" y="${y(mib)}" text-anchor="end" dy="4">${Math.round(mib)}</text>`,
  );
  const minutes = Array.from({ length: 7 }, (_, step) => (end * step) / 6).map(
    (second) =>
      `<text x="${x(second)}" y="${HEIGHT - 18}" text-anchor="middle">${(second / 60).toFixed(0)}</text>`,
  );
  const drawn = lines.map(({ label, colour, dash, points }, at) => {
    const path = points.map(({ second, mib }) => `${x(second)},${y(mib)}`).join(' ');
    const style = `fill="none" stroke="${colour}" stroke-width="1.5"${dash === undefined ? '' : ` stroke-dasharray="${dash}"`}`;
    const key = WIDTH - MARGIN.right + 16;
    const level = MARGIN.top + 14 + at * 22;
    return (
      `<polyline points="${path}" ${style}/>` +
      `<line x1="${key}" x2="${key + 24}" y1="${level}" y2="${level}" ${style}/>` +
      `<text x="${key + 32}" y="${level}" dy="4">${label}</text>`
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>Memory of gateway, worker and parsers in MiB, by minutes</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    ...rows,
    ...minutes,
    ...drawn,
    `<text x="${MARGIN.left}" y="12">MiB</text>`,
    `<text x="${x(end)}" y="${HEIGHT - 4}" text-anchor="end">minutes</text>`,
    '</svg>',
    '',
  ].join('\n');
}
