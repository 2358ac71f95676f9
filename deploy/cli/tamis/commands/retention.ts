import type { Command } from 'commander';
import type { RetentionBody } from '../../../../schemas/retention-api.js';
import { count } from '../arguments.js';
import { CliFailure, EXIT } from '../cli-failure.js';
import type { Context, Run } from '../context.js';
import { formatCount, formatTable, formatTime } from '../format.js';

/** Documents and proxy; either may be left out by SERVICES. */
const PATHS = ['/admin/retention', '/api/retention'] as const;

/** `tamis retention`: a dry run of what goes by its age. */
export function addRetention(program: Command, run: Run): void {
  program
    .command('retention')
    .description('what goes by its age now: tasks, callbacks, alerts, quarantine; nothing is removed by this')
    .option('--days <n>', 'as if everything were kept so long', count(1))
    .action(run(show));
}

async function show(context: Context, { days }: { days?: number }): Promise<void> {
  const gateway = context.gateway();
  const query = days === undefined ? '' : `?days=${days}`;
  const ask = (path: string) => gateway.ask<RetentionBody>('GET', `${path}${query}`);
  const asked = await Promise.allSettled([ask(PATHS[0]), ask(PATHS[1])]);
  const records = asked.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.records : []));
  const [, ofProxy] = asked;
  // The proxy may as well be at an address that was not named.
  const left = ofProxy.status === 'rejected' && isOfAbsentSide(ofProxy.reason) ? ofProxy.reason : undefined;
  const failures = asked.flatMap((answer) =>
    answer.status === 'rejected' ? [answer.reason as unknown] : [],
  );
  const serious = failures.find((failure) => !isOfAbsentSide(failure));
  if (serious !== undefined && (records.length === 0 || !isRefusal(serious))) throw serious;
  context.show({ records }, [
    ...formatTable(
      ['RECORDS', 'KEPT', 'OLDER THAN', 'DUE', 'SCHEDULE'],
      records.map((row) => [
        row.of,
        row.days === 0 ? 'for good' : `${row.days} days`,
        formatTime(row.before),
        `${formatCount(row.due)}${row.more ? ' and more' : ''}`,
        row.of === 'alerts' ? 'retention' : `retention-${row.of}`,
      ]),
    ),
    ...(left === undefined ? [] : [`Left out: ${left.message}`]),
    ...(serious === undefined ? [] : [`The rest was refused: ${(serious as Error).message}`]),
  ]);
}

/** A gateway of one job alone does not know the route of the other. */
function isOfAbsentSide(failure: unknown): failure is CliFailure {
  return failure instanceof CliFailure && failure.status === 404;
}

function isRefusal(failure: unknown): boolean {
  return failure instanceof CliFailure && failure.exitCode === EXIT.refused;
}
