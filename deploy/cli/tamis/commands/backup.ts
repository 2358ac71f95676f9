import type { Command } from 'commander';
import type { z } from 'zod';
import type {
  BackupList,
  BackupRunBody,
  BackupRunStarted,
  BackupRuns,
} from '../../../../schemas/backups/backups-api.js';
import { CliFailure, EXIT } from '../cli-failure.js';
import type { Context, Run } from '../context.js';
import { formatCount, formatTable, formatTime } from '../format.js';
import { untilTaken } from '../until-taken.js';
import { watch } from '../watch.js';

type Backup = BackupList['backups'][number];

const RUNS = '/admin/backup-runs';
const MEBIBYTE = 1024 * 1024;

/** `tamis backup` and `tamis restore`. */
export function addBackup(program: Command, run: Run): void {
  const backup = program
    .command('backup')
    .description('make a backup of everything that is stored, while the service goes on');

  backup
    .command('run')
    .description('make one, in BACKUP_LOCATION of the service')
    .option('--without-vectors', 'smaller; chunks are embedded again when it is restored')
    .option('--watch', 'show progress until it ends; Ctrl-C leaves it running')
    .action(
      run(async (context, options: { withoutVectors?: boolean; watch?: boolean }) => {
        const body = { vectors: options.withoutVectors !== true };
        await begin(context, '/admin/backups', body, options.watch === true);
      }),
    );
  backup.command('list').description('the backups that are complete').action(run(list));
  backup.command('status').description('the last runs that made or restored a backup').action(run(status));
  backup
    .command('watch')
    .description('show progress of the latest run until it ends; Ctrl-C leaves it running')
    .action(run((context) => watchLatest(context)));
  backup
    .command('cancel')
    .description('give up the run at work; a backup that is not complete is removed')
    .action(
      run(async (context) => {
        await context.gateway().ask('POST', `${RUNS}/cancel`);
        context.show({ asked: 'cancel' }, ['It is given up: tamis backup status']);
      }),
    );
  backup
    .command('remove')
    .description('remove a backup')
    .argument('<id>', 'as `tamis backup list` shows it')
    .option('-y, --yes', 'do not ask')
    .action(
      run(async (context, options: { yes?: boolean }, id: string) => {
        await context.confirm(`Remove the backup ${id}?`, options);
        await context.gateway().ask('DELETE', `/admin/backups/${encodeURIComponent(id)}`);
        context.show({ removed: id }, [`Removed ${id}.`]);
      }),
    );

  program
    .command('restore')
    .description('put back what a backup holds')
    .argument('<id>', 'as `tamis backup list` shows it')
    .option('--replace', 'also where records are: everything that is stored is removed first')
    .option('--watch', 'show progress until it ends; Ctrl-C leaves it running')
    .option('-y, --yes', 'do not ask')
    .action(
      run(async (context, options: { replace?: boolean; watch?: boolean; yes?: boolean }, id: string) => {
        const replace = options.replace === true;
        if (replace) await context.confirm(`Remove everything that is stored and restore ${id}?`, options);
        await begin(context, '/admin/restores', { backup_id: id, replace }, options.watch === true);
      }),
    );
}

async function begin(context: Context, path: string, body: object, isWatched: boolean): Promise<void> {
  const started = await context.gateway().ask<z.output<typeof BackupRunStarted>>('POST', path, body);
  if (isWatched) return follow(context, started.run_id);
  context.show(started, [`Started as ${started.run_id}. Watch it: tamis backup watch`]);
}

async function list(context: Context): Promise<void> {
  const body = await context.gateway().ask<BackupList>('GET', '/admin/backups');
  if (body.place === null)
    throw new CliFailure(EXIT.failed, 'The service makes no backups: BACKUP_LOCATION is not set.');
  const rows = body.backups.map((backup) => [
    backup.backup_id,
    backup.finished_at === null ? '' : formatTime(backup.finished_at),
    backup.bytes === null ? '' : `${formatCount(Math.ceil(backup.bytes / MEBIBYTE))} MiB`,
    `${formatCount(backup.counts['files'] ?? 0)} files, ${formatCount(backup.counts['alerts'] ?? 0)} alerts`,
    remark(backup),
  ]);
  context.show(body, [
    `Backups in ${body.place}`,
    ...formatTable(['ID', 'MADE', 'SIZE', 'HOLDS', 'REMARK'], rows),
  ]);
}

function remark({ usable, vectors, missing_keys: missing }: Backup): string {
  if (!usable) return 'cannot be used';
  if (missing.length > 0) return `needs the SECRETS_KEY of fingerprint ${missing.join(' and ')}`;
  return vectors === false ? 'without vectors' : '';
}

async function status(context: Context): Promise<void> {
  const body = await context.gateway().ask<z.output<typeof BackupRuns>>('GET', RUNS);
  context.show(body, body.runs.length === 0 ? ['None ran yet.'] : body.runs.flatMap(runLines));
}

function runLines(found: BackupRunBody): string[] {
  const of = found.total === null ? '' : ` of ${formatCount(found.total)}`;
  const times =
    found.finished_at === null
      ? `since ${formatTime(found.started_at)}`
      : `${formatTime(found.started_at)} to ${formatTime(found.finished_at)}`;
  const figures = Object.entries(found.figures).map(([figure, value]) => `${figure} ${formatCount(value)}`);
  return [
    `${found.kind} ${found.backup_id}: ${found.state}, ${found.phase}, ${formatCount(found.done)}${of} records`,
    `  ${times}, started by ${/^\d+$/.test(found.started_by) ? `user ${found.started_by}` : found.started_by}`,
    ...(figures.length === 0 ? [] : [`  ${figures.join(', ')}`]),
    ...(found.error === null ? [] : [`  ${found.error.code}: ${found.error.message}`]),
  ];
}

async function watchLatest(context: Context): Promise<void> {
  const { runs } = await context.gateway().ask<z.output<typeof BackupRuns>>('GET', RUNS);
  const latest = runs[0];
  if (latest === undefined) throw new CliFailure(EXIT.failed, 'None ran yet.');
  await follow(context, latest.run_id);
}

async function follow(context: Context, runId: string): Promise<void> {
  const gateway = context.gateway();
  const end = await watch<BackupRunBody>(context, {
    howToComeBack: 'It goes on. Watch it again: tamis backup watch',
    async *states() {
      await untilTaken(gateway, 'tamis backup watch', async () => {
        const { runs } = await gateway.ask<z.output<typeof BackupRuns>>('GET', RUNS);
        return runs.some(({ run_id }) => run_id === runId);
      });
      yield* gateway.events<BackupRunBody>(`${RUNS}/${runId}/events`);
    },
    isFinal: ({ state }) => state !== 'running',
    progressOf: ({ phase, done, total }) => ({ phase, done, total, unit: 'records' }),
  });
  if (!context.json) for (const line of runLines(end)) context.write(`${line}\n`);
  if (end.state !== 'completed')
    throw new CliFailure(
      EXIT.failed,
      `The ${end.kind} ${end.state === 'failed' ? 'failed' : 'was cancelled'}.`,
    );
}
