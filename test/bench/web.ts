/**
 * `npm run bench:web`: the console in a browser against gateway, worker and services: bytes of script that the first
 * load takes, the browser's own time of the first content, and frames a second while long tables scroll. Sizes by
 * BENCH_ALERTS and BENCH_FILES.
 */
import type { Page } from 'playwright-core';
import { sampleSignal, signalClient } from '../support/signal-client.js';
import { cloneFile } from '../web/support/clone-file.js';
import { openStage } from '../web/support/open-stage.js';
import type { Stage } from '../web/support/open-stage.js';
import { scriptBytes } from '../web/support/script-bytes.js';
import { reportBench } from './bench-report.js';

const ALERTS = Number(process.env['BENCH_ALERTS'] ?? 100_000);
const FILES = Number(process.env['BENCH_FILES'] ?? 50_000);
const ROUNDS = 5;
const SCROLLED_MS = 5_000;
/** At sixty frames a second a screen of rows passes in a quarter of a second. */
const PIXELS_A_FRAME = 60;
const PUSH = 500;
const PARTITION = 'long';
const SCENARIOS = ['crowdsecurity/ssh-bf', 'crowdsecurity/http-probing', 'crowdsecurity/http-crawl'];

const rows: { what: string; figure: string }[] = [];

function add(what: string, figure: string): void {
  rows.push({ what, figure });
  process.stderr.write(`${what}: ${figure}\n`);
}

async function fillAlerts({ stack }: Stage): Promise<void> {
  const lapi = signalClient(stack.base, 'bench');
  await lapi.login();
  for (let from = 0; from < ALERTS; from += PUSH) {
    const signals = Array.from({ length: PUSH }, (_, index) =>
      sampleSignal(from + index, { scenario: SCENARIOS[index % SCENARIOS.length] }),
    );
    const { status } = await lapi.push(signals);
    if (status !== 200) throw new Error(`a push was answered ${status}`);
  }
}

interface Scrolled {
  frames: number;
  longest: number;
  top: number;
}

/** By frames that the browser drew while a script scrolled as a wheel does, and the longest time without one. */
async function scroll(page: Page, name: string): Promise<Scrolled> {
  const seen: unknown = await page.evaluate(
    `new Promise((done) => {
      const frame = document.querySelector('[aria-label="${name}"]');
      const began = performance.now();
      let [frames, longest, last] = [0, 0, began];
      const draw = (now) => {
        frames += 1;
        longest = Math.max(longest, now - last);
        last = now;
        frame.scrollTop += ${PIXELS_A_FRAME};
        const passed = now - began;
        if (passed < ${SCROLLED_MS}) requestAnimationFrame(draw);
        else done({ frames: frames / (passed / 1000), longest, top: frame.scrollTop });
      };
      requestAnimationFrame(draw);
    })`,
  );
  return seen as Scrolled;
}

async function measureScroll(page: Page, what: string, name: string): Promise<void> {
  const { frames, longest, top } = await scroll(page, name);
  add(
    `${what}: frames a second`,
    `${frames.toFixed(1)} (longest frame ${Math.round(longest)} ms, ${Math.round(top)} px scrolled)`,
  );
}

/** Medians of loads with an empty cache, then with what the first load left. */
async function measureLoads(stage: Stage): Promise<void> {
  const paint = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime`;
  const paints: Record<'cold' | 'warm', number[]> = { cold: [], warm: [] };
  let script = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { page, close } = await stage.visit('/partitions', stage.stack.token);
    for (const which of ['cold', 'warm'] as const) {
      if (which === 'cold') {
        const session = await page.context().newCDPSession(page);
        await session.send('Network.clearBrowserCache');
      }
      await page.goto(`${stage.stack.base}/app/partitions`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      const at: unknown = await page.evaluate(paint);
      if (typeof at === 'number') paints[which].push(at);
    }
    await close();
    const first = await stage.visit('/sign-in');
    await first.page.getByLabel('Token or key').waitFor();
    script = await scriptBytes(first.page);
    await first.close();
  }
  const median = (list: number[]): string =>
    `${Math.round(list.sort((a, b) => a - b)[list.length >> 1] ?? 0)} ms`;
  add('script of the first load as sent', `${(script / 1000).toFixed(1)} kB`);
  add(`first content, empty cache (median of ${ROUNDS})`, median(paints.cold));
  add(`first content, warm cache (median of ${ROUNDS})`, median(paints.warm));
}

const stage = await openStage();
try {
  await measureLoads(stage);
  await cloneFile(stage.stack, PARTITION, FILES);
  const { page } = await stage.visit('/', stage.stack.token);
  const opened = performance.now();
  await page.goto(`${stage.stack.base}/app/partitions/${PARTITION}`);
  await page.getByRole('table', { name: 'Files' }).getByRole('row').nth(5).waitFor();
  add(`${FILES} files: from the address to the table`, `${Math.round(performance.now() - opened)} ms`);
  const all = FILES.toLocaleString('en');
  await page.getByText(`${all} of ${all} files`).waitFor();
  add(`${FILES} files: until all of them are there`, `${Math.round(performance.now() - opened)} ms`);
  await measureScroll(page, `${FILES} files`, 'Files');
  await fillAlerts(stage);
  const keeper = await stage.visit('/', stage.key);
  await keeper.page.goto(`${stage.stack.base}/app/signals/alerts`);
  await keeper.page.getByRole('table', { name: 'Alerts' }).getByRole('row').nth(5).waitFor();
  await measureScroll(keeper.page, `${ALERTS} alerts, while pages of them come in`, 'Alerts');
} finally {
  await stage.close();
}
reportBench('web', 'The console in a browser', rows, [
  'Chromium without a graphics card: what it draws, it draws with the processor.',
]);
process.exit(0);
