import type { Command } from 'commander';
import type { z } from 'zod';
import type { WatcherSteered } from '../../../../schemas/signals/forwarding-api.js';
import type { ForwardingBody, ForwardingWatcher } from '../../../../schemas/signals/proxy-api.js';
import type { Context, Run } from '../context.js';
import { formatCount, formatTable, formatTime } from '../format.js';

const WORDS = {
  pause: 'hold the signals of a watcher back; they are still taken and stored',
  resume: 'let the signals of a paused watcher go',
  retry: 'end a back-off, a cool-down or a block of logins: the next offer is made now',
} as const;

/** `tamis forwarding`: what waits for the central API. */
export function addForwarding(program: Command, run: Run): void {
  const forwarding = program.command('forwarding').description('signals on their way to the central API');
  forwarding.command('list').description('how the signals of each watcher fare').action(run(list));
  for (const [word, description] of Object.entries(WORDS))
    forwarding
      .command(word)
      .description(description)
      .argument('<watcher>', 'its login name')
      .action(
        run(async (context, _options, watcher: string) => {
          const path = `/api/forwarding/${encodeURIComponent(watcher)}/${word}`;
          const body = await context.gateway().ask<z.output<typeof WatcherSteered>>('POST', path);
          const told = body.actorTold ? '' : ' It is told within minutes: Temporal is away.';
          context.show(body, [`${watcher} ${body.paused ? 'is paused' : 'goes on'}.${told}`]);
        }),
      );
}

async function list(context: Context): Promise<void> {
  const body = await context.gateway().ask<z.output<typeof ForwardingBody>>('GET', '/api/forwarding');
  const rows = body.watchers.map((row) => [
    row.watcher,
    formatCount(row.waiting),
    formatTime(row.oldest),
    formatCount(row.quarantined),
    stateWords(row),
  ]);
  context.show(body, [
    ...(body.enabled ? [] : ['Forwarding is switched off (FORWARD_ENABLED).']),
    ...formatTable(['WATCHER', 'WAITING', 'OLDEST', 'QUARANTINED', 'STATE'], rows),
  ]);
}

function stateWords(row: ForwardingWatcher): string {
  if (row.pausedSince !== null) return `paused since ${formatTime(row.pausedSince)}`;
  if (row.loginWanted) return 'waits for a login';
  if (row.nextAttempt !== null) return `next attempt ${formatTime(row.nextAttempt)}`;
  return row.waiting === 0 ? 'nothing waits' : 'sending';
}
