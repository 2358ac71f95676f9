import type { Command } from 'commander';
import type { z } from 'zod';
import { MIGRATIONS } from '../../../../schemas/migrations/migrations.js';
import type { MigrationMode } from '../../../../schemas/migrations/migrations.js';
import type {
  MigrationList,
  MigrationRunBody,
  MigrationRuns,
  MigrationStarted,
} from '../../../../schemas/migrations/migrations-api.js';
import { pages, pagesOrNone } from '../arguments.js';
import { CliFailure, EXIT } from '../cli-failure.js';
import type { Context, Run } from '../context.js';
import { formatCount, formatTable, formatTime } from '../format.js';
import { addSteering } from '../steer.js';
import type { Steered } from '../steer.js';
import { untilTaken } from '../until-taken.js';
import { watch } from '../watch.js';

type List = z.output<typeof MigrationList>;
type Row = List['migrations'][number];

const NAMES = `one of ${MIGRATIONS.join(', ')}`;
const FINAL: readonly MigrationRunBody['state'][] = ['completed', 'failed', 'cancelled'];

function pathOf(name: string, word = ''): string {
  return `/admin/migrations/${encodeURIComponent(name)}${word === '' ? '' : `/${word}`}`;
}

const STEERED: Steered = {
  group: 'migrate',
  argument: 'name',
  argumentDescription: NAMES,
  pathOf,
};
const STEERING = [
  {
    word: 'pause',
    description: 'stop after what it does at this moment, until it is resumed',
    said: 'It pauses',
  },
  { word: 'resume', description: 'let a paused run go on', said: 'It goes on' },
  {
    word: 'cancel',
    description: 'give it up where that is safe; what it had built is removed',
    said: 'It is given up',
  },
] as const;

/** `tamis migrate`: what an earlier release stored is brought to the shape of this one. */
export function addMigrate(program: Command, run: Run): void {
  const migrate = program.command('migrate').description('bring what is stored to the shape of this release');

  migrate
    .command('list')
    .description('what can be migrated, and whether anything is to be done')
    .action(run(list));
  migrate
    .command('status')
    .description('what is pending and how the last runs fared')
    .argument('[name]', NAMES)
    .action(run(status));
  migrate
    .command('run')
    .description('start a migration')
    .argument('<name>', NAMES)
    .option('--dry-run', 'change nothing: count what would be done, and show it')
    .option('--pages-per-second <n>', 'go no faster than this', pages)
    .option('--watch', 'show progress until it ends; Ctrl-C leaves it running')
    .action(run(start));
  migrate
    .command('verify')
    .description('check what a migration made, while everything goes on; changes nothing')
    .argument('<name>', NAMES)
    .action(run((context, _options, name: string) => begin(context, name, { mode: 'verify' }, true)));
  migrate
    .command('watch')
    .description('show progress of the latest run until it ends; Ctrl-C leaves it running')
    .argument('<name>', NAMES)
    .action(run((context, _options, name: string) => follow(context, name, null)));
  for (const word of STEERING) addSteering(migrate, run, STEERED, word);
  migrate
    .command('pace')
    .description('change how fast a run may go')
    .argument('<name>', NAMES)
    .argument('<pages-per-second>', 'a number, or `none` for no limit', pagesOrNone)
    .action(
      run(async (context, _options, name: string, pagesPerSecond: number | null) => {
        await context.gateway().ask('POST', pathOf(name, 'pace'), { pages_per_second: pagesPerSecond });
        const words =
          pagesPerSecond === null
            ? 'as fast as it can'
            : `at ${pagesPerSecond} ${pagesPerSecond === 1 ? 'page' : 'pages'} a second at most`;
        context.show({ name, pages_per_second: pagesPerSecond }, [`${name} goes ${words}.`]);
      }),
    );
  migrate
    .command('rollback')
    .description('go back to what the last run replaced, where that is kept')
    .argument('<name>', NAMES)
    .option('--watch', 'show progress until it ends; Ctrl-C leaves it running')
    .option('-y, --yes', 'do not ask')
    .action(
      run(async (context, options: { watch?: boolean; yes?: boolean }, name: string) => {
        await context.confirm(`Roll back ${name}?`, options);
        await begin(context, name, { mode: 'rollback' }, options.watch === true);
      }),
    );
}

async function list(context: Context): Promise<void> {
  const body = await context.gateway().ask<List>('GET', '/admin/migrations');
  const rows = body.migrations.map((row) => [row.name, pendingWords(row), latestWords(row)]);
  context.show(body, formatTable(['MIGRATION', 'PENDING', 'LAST RUN'], rows));
}

function pendingWords({ pending, unknown, unit }: Row): string {
  if (unknown !== null) return 'unknown';
  if (pending === null) return 'nothing';
  const amount = pending.amount === null ? 'yes' : `${formatCount(pending.amount)} ${unit}`;
  return pending.obstacle === null ? amount : `${amount}, blocked`;
}

function newest(runs: readonly MigrationRunBody[]): MigrationRunBody | undefined {
  return [...runs].sort((one, other) => other.started_at.localeCompare(one.started_at))[0];
}

function latestWords({ latest }: Row): string {
  const found = newest(latest);
  if (found === undefined) return 'never';
  const mode = found.mode === 'run' ? '' : `${modeWords(found.mode)} `;
  return `${mode}${found.state} ${formatTime(found.finished_at ?? found.started_at)}`;
}

function modeWords(mode: MigrationMode): string {
  return mode === 'dry_run' ? 'dry run' : mode;
}

async function status(context: Context, _options: object, name?: string): Promise<void> {
  const body = await context.gateway().ask<List>('GET', '/admin/migrations');
  const rows = body.migrations.filter((row) => name === undefined || row.name === name);
  if (name !== undefined && rows.length === 0)
    throw new CliFailure(EXIT.failed, `There is no migration ${name}.`);
  context.show(
    name === undefined ? body : rows[0],
    rows.flatMap((row, at) => [...(at === 0 ? [] : ['']), ...statusLines(row)]),
  );
}

function statusLines(row: Row): string[] {
  const { pending } = row;
  return [
    `${row.name}: ${row.title}`,
    ...(row.unknown === null ? [] : [`  unknown: ${row.unknown}`]),
    ...(pending === null && row.unknown === null ? ['  pending: nothing'] : []),
    ...(pending === null
      ? []
      : [
          `  pending: ${pending.what}${pending.amount === null ? '' : ` (${formatCount(pending.amount)} ${row.unit})`}`,
          `  does not work until then: ${pending.dark.length === 0 ? 'nothing' : pending.dark.join(', ')}`,
          ...(pending.obstacle === null ? [] : [`  blocked: ${pending.obstacle}`]),
        ]),
    ...row.latest.flatMap((latest) => runLines(latest).map((line) => `  ${line}`)),
  ];
}

function runLines(found: MigrationRunBody): string[] {
  const of = found.total === null ? '' : ` of ${formatCount(found.total)}`;
  const times =
    found.finished_at === null
      ? `since ${formatTime(found.started_at)}`
      : `${formatTime(found.started_at)} to ${formatTime(found.finished_at)}`;
  const figures = Object.entries(found.figures).map(([figure, value]) => `${figure} ${formatCount(value)}`);
  return [
    `${modeWords(found.mode)} ${found.run_id}: ${found.state}, ${found.phase}, ${formatCount(found.done)}${of} ${found.unit}`,
    `  ${times}, started by ${starterWords(found.started_by)}`,
    ...(figures.length === 0 ? [] : [`  ${figures.join(', ')}`]),
    ...(found.error === null ? [] : [`  ${found.error.code}: ${found.error.message}`]),
  ];
}

function starterWords(startedBy: string): string {
  return /^\d+$/.test(startedBy) ? `user ${startedBy}` : startedBy;
}

interface StartOptions {
  dryRun?: boolean;
  pagesPerSecond?: number;
  watch?: boolean;
}

function start(context: Context, options: StartOptions, name: string): Promise<void> {
  const mode = options.dryRun === true ? 'dry_run' : 'run';
  const body = { mode, pages_per_second: options.pagesPerSecond ?? null } as const;
  // A dry run exists for its counts, so it is always watched.
  return begin(context, name, body, options.watch === true || mode === 'dry_run');
}

async function begin(
  context: Context,
  name: string,
  body: { mode: MigrationMode; pages_per_second?: number | null },
  isWatched: boolean,
): Promise<void> {
  const started = await context.gateway().ask<z.output<typeof MigrationStarted>>('POST', pathOf(name), body);
  if (isWatched) return follow(context, name, started.run_id);
  context.show(started, [`Started as ${started.run_id}. Watch it: tamis migrate watch ${name}`]);
}

/** Shows a run until it ends; null: the latest. */
async function follow(context: Context, name: string, runId: string | null): Promise<void> {
  const gateway = context.gateway();
  const howToComeBack = `The migration goes on. Watch it again: tamis migrate watch ${name}`;
  if (runId !== null && !context.json && !context.isTerminal) context.write(`Started as ${runId}.\n`);
  const end = await watch<MigrationRunBody>(context, {
    howToComeBack,
    async *states() {
      if (runId !== null)
        await untilTaken(gateway, `tamis migrate watch ${name}`, async () => {
          const { runs } = await gateway.ask<z.output<typeof MigrationRuns>>('GET', pathOf(name, 'runs'));
          return runs.some(({ run_id }) => run_id === runId);
        });
      yield* gateway.events<MigrationRunBody>(pathOf(name, 'events'));
    },
    isFinal: ({ state }) => FINAL.includes(state),
    progressOf: ({ phase, done, total, unit, state }) => ({
      phase,
      done,
      total,
      unit,
      paused: state === 'paused',
    }),
  });
  if (!context.json) for (const line of runLines(end)) context.write(`${line}\n`);
  if (end.state !== 'completed') throw new CliFailure(EXIT.failed, `The migration ${name} ${endWords(end)}.`);
}

function endWords({ state }: MigrationRunBody): string {
  return state === 'cancelled' ? 'was cancelled' : 'failed';
}
