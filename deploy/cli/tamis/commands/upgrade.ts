import type { Command } from 'commander';
import type { Context, Run } from '../context.js';
import { formatCount, formatDuration } from '../format.js';

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

/** `tamis upgrade check`: what this release would migrate, before it is asked to. */
export function addUpgrade(program: Command, run: Run): void {
  const upgrade = program.command('upgrade').description('before and after a new release');
  upgrade
    .command('check')
    .description('what will migrate, how long it takes, what does not work meanwhile, and what is in the way')
    .action(run(check));
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
