import type { Command } from 'commander';
import type { Context, Run } from '../context.js';
import { formatCount, formatDuration, formatTable, formatTime } from '../format.js';

/** What is read here of the gateway's answer. */
interface UpgradeCheck {
  migrations: {
    name: string;
    what: string;
    unit: string;
    amount: number | null;
    units_per_second: number;
    rate_from: 'last_run' | 'assumed';
    seconds: number | null;
    state: string | null;
    dark: string[];
    obstacle: string | null;
  }[];
  seconds: number | null;
  dark: string[];
  obstacles: string[];
  backup: { state: 'none_known' | 'known'; note: string };
}

interface WorkerVersions {
  versions: { build_id: string; state: string; since: string }[];
}

/** `tamis upgrade check`: what this release would migrate, before it is asked to. */
export function addUpgrade(program: Command, run: Run): void {
  const upgrade = program.command('upgrade').description('before and after a new release');
  upgrade
    .command('check')
    .description('what will migrate, how long it takes, what does not work meanwhile, and what is in the way')
    .action(run(check));
  upgrade
    .command('versions')
    .description('releases of workers with WORKER_BUILD_ID: which takes new work, which can be stopped')
    .action(run(versions));
  upgrade
    .command('promote')
    .description(
      'let the workers of a release take over; documents that others have begun end where they are',
    )
    .argument('<build-id>', 'as `tamis upgrade versions` lists it')
    .action(
      run(async (context, _options, buildId: string) => {
        const path = `/admin/worker-versions/${encodeURIComponent(buildId)}/promote`;
        await context.gateway().ask('POST', path);
        context.show({ build_id: buildId, state: 'current' }, [`Workers of ${buildId} take what is new.`]);
      }),
    );
}

async function versions(context: Context): Promise<void> {
  const body = await context.gateway().ask<WorkerVersions>('GET', '/admin/worker-versions');
  const rows = body.versions.map(({ build_id: buildId, state, since }) => [
    buildId,
    state,
    formatTime(since),
  ]);
  context.show(
    body,
    rows.length === 0
      ? ['Workers are not versioned: none has a WORKER_BUILD_ID.']
      : formatTable(['RELEASE', 'STATE', 'SINCE'], rows),
  );
}

async function check(context: Context): Promise<void> {
  const body = await context.gateway().ask<UpgradeCheck>('GET', '/admin/upgrade-check');
  context.show(body, [
    ...(body.migrations.length === 0 ? ['Nothing has to be migrated.'] : body.migrations.flatMap(rowLines)),
    `in all: ${timeWords(body.seconds)}`,
    `does not work until then: ${body.dark.length === 0 ? 'nothing' : body.dark.join(', ')}`,
    ...body.obstacles.map((obstacle) => `in the way: ${obstacle}`),
    `backup: ${body.backup.note}`,
  ]);
}

function rowLines(row: UpgradeCheck['migrations'][number]): string[] {
  const amount = row.amount === null ? 'amount unknown' : `${formatCount(row.amount)} ${row.unit}`;
  const from = row.rate_from === 'assumed' ? 'assumed' : 'by the last run';
  return [
    `${row.name}: ${row.what}`,
    `  ${amount}, ${timeWords(row.seconds)} at ${row.units_per_second}/s (${from})${row.state === null ? '' : `; ${row.state}`}`,
  ];
}

function timeWords(seconds: number | null): string {
  return seconds === null
    ? 'how long is not known'
    : seconds === 0
      ? 'no time'
      : `about ${formatDuration(seconds * 1000)}`;
}
