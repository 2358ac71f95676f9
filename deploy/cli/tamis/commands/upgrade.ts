import type { Command } from 'commander';
import { formatFacts } from '../format.js';
import type { Run } from '../context.js';

/** `tamis upgrade check`: what this release would migrate, before it is asked to. */
export const addUpgrade = (program: Command, run: Run): void => {
  const upgrade = program.command('upgrade').description('before and after a new release');
  upgrade
    .command('check')
    .description('what will migrate, how long it takes, what does not work meanwhile, and what is in the way')
    .action(
      run(async (context) => {
        const body = await context.gateway().ask('GET', '/admin/upgrade-check');
        context.show(body, formatFacts(body));
      }),
    );
};
