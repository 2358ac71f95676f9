import type { Command } from 'commander';
import type { z } from 'zod';
import type {
  ImportList,
  ImportRunBody,
  ImportRuns,
  ImportStarted,
} from '../../../../schemas/imports/imports-api.js';
import { pages } from '../arguments.js';
import { CliFailure, EXIT } from '../cli-failure.js';
import type { Context, Run } from '../context.js';
import { formatCount, formatTime } from '../format.js';
import { addSteering } from '../steer.js';
import type { Steered } from '../steer.js';
import { untilTaken } from '../until-taken.js';
import { watch } from '../watch.js';

const SOURCE = 'what you call the source, such as old-service';

function pathOf(source: string, word = ''): string {
  return `/admin/imports/${encodeURIComponent(source)}${word === '' ? '' : `/${word}`}`;
}

const STEERED: Steered = {
  group: 'import',
  argument: 'source',
  argumentDescription: SOURCE,
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
    description: 'give it up; what was taken stays, and a later run goes on',
    said: 'It is given up',
  },
] as const;

/** `tamis import`: what another service of this contract holds is taken over. */
export function addImport(program: Command, run: Run): void {
  const command = program
    .command('import')
    .description('take over users, partitions, files and workspaces of another service of this contract');

  command
    .command('start')
    .description('start an import, or take what changed since the last one')
    .argument('<source>', SOURCE)
    .option('--source-url <address>', 'where the source answers; needed the first time')
    .option('--source-token <token>', 'of an administrator of the source, else TAMIS_SOURCE_TOKEN; likewise')
    .option('--dry-run', 'change nothing: count what would be done, and show it')
    .option('--requests-per-second <n>', 'ask the source no faster than this; 20 unless given', pages)
    .option('--watch', 'show progress until it ends; Ctrl-C leaves it running')
    .action(run(start));
  command
    .command('status')
    .description('the sources, and how their latest runs fared')
    .argument('[source]', SOURCE)
    .action(run(status));
  command
    .command('watch')
    .description('show progress of the latest run until it ends; Ctrl-C leaves it running')
    .argument('<source>', SOURCE)
    .action(run((context, _options, source: string) => follow(context, source, null)));
  for (const word of STEERING) addSteering(command, run, STEERED, word);
}

interface StartOptions {
  sourceUrl?: string;
  sourceToken?: string;
  dryRun?: boolean;
  requestsPerSecond?: number;
  watch?: boolean;
}

async function start(context: Context, options: StartOptions, source: string): Promise<void> {
  const token = options.sourceToken ?? context.env['TAMIS_SOURCE_TOKEN'];
  const dryRun = options.dryRun === true;
  const body = {
    ...(options.sourceUrl === undefined ? {} : { url: options.sourceUrl }),
    ...(token === undefined || token === '' ? {} : { token }),
    ...(options.requestsPerSecond === undefined ? {} : { requests_per_second: options.requestsPerSecond }),
    dry_run: dryRun,
  };
  const started = await context.gateway().ask<z.output<typeof ImportStarted>>('POST', pathOf(source), body);
  // A dry run exists for its counts, so it is always watched.
  if (options.watch === true || dryRun) return follow(context, source, started.run_id);
  context.show(started, [`Started as ${started.run_id}. Watch it: tamis import watch ${source}`]);
}

async function status(context: Context, _options: object, source?: string): Promise<void> {
  const { sources } = await context.gateway().ask<ImportList>('GET', '/admin/imports');
  const rows = sources.filter(({ source_id }) => source === undefined || source_id === source);
  if (source !== undefined && rows.length === 0)
    throw new CliFailure(EXIT.failed, `Nothing was imported from ${source} yet.`);
  context.show(
    source === undefined ? { sources } : rows[0],
    rows.length === 0
      ? ['Nothing was imported yet.']
      : rows.flatMap((row) => [
          `${row.source_id}: ${row.url}`,
          ...(row.latest === null ? ['  never ran'] : runLines(row.latest).map((line) => `  ${line}`)),
        ]),
  );
}

function runLines(found: ImportRunBody): string[] {
  const of = found.total === null ? '' : ` of ${formatCount(found.total)}`;
  const times =
    found.finished_at === null
      ? `since ${formatTime(found.started_at)}`
      : `${formatTime(found.started_at)} to ${formatTime(found.finished_at)}`;
  const figures = Object.entries(found.figures).map(([figure, value]) => `${figure} ${formatCount(value)}`);
  return [
    `${found.dry_run ? 'dry run' : 'import'}: ${found.state}, ${found.phase}, ${formatCount(found.done)}${of} files`,
    `  ${times}, started by user ${found.started_by}`,
    ...(figures.length === 0 ? [] : [`  ${figures.join(', ')}`]),
    ...found.refused.map(
      (file) => `  refused: ${file.partition}/${file.file_id}: ${file.code}: ${file.message}`,
    ),
    ...(found.error === null ? [] : [`  ${found.error.code}: ${found.error.message}`]),
  ];
}

/** Shows a run until it ends; null: the latest. */
async function follow(context: Context, source: string, runId: string | null): Promise<void> {
  const gateway = context.gateway();
  const howToComeBack = `The import goes on. Watch it again: tamis import watch ${source}`;
  const end = await watch<ImportRunBody>(context, {
    howToComeBack,
    async *states() {
      if (runId !== null)
        await untilTaken(gateway, `tamis import watch ${source}`, async () => {
          const { runs } = await gateway.ask<ImportRuns>('GET', pathOf(source, 'runs'));
          return runs.some(({ run_id }) => run_id === runId);
        });
      yield* gateway.events<ImportRunBody>(pathOf(source, 'events'));
    },
    isFinal: ({ state }) => state !== 'running' && state !== 'paused',
    progressOf: ({ phase, done, total, state }) => ({
      phase,
      done,
      total,
      unit: 'files',
      paused: state === 'paused',
    }),
  });
  if (!context.json) for (const line of runLines(end)) context.write(`${line}\n`);
  if (end.state !== 'completed')
    throw new CliFailure(EXIT.failed, `The import ${end.state === 'failed' ? 'failed' : 'was cancelled'}.`);
}
