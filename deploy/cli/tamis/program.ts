import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addBackup } from './commands/backup.js';
import { addCheck } from './commands/check.js';
import { addConfig } from './commands/config.js';
import { addEval } from './commands/eval.js';
import { addForwarding } from './commands/forwarding.js';
import { addIndexes } from './commands/indexes.js';
import { addImport } from './commands/import.js';
import { addKeys } from './commands/keys.js';
import { addMigrate } from './commands/migrate.js';
import { addRetention } from './commands/retention.js';
import { addSchedule } from './commands/schedule.js';
import { addSwap } from './commands/swap.js';
import { addUpgrade } from './commands/upgrade.js';
import { addUsers } from './commands/users.js';
import { contextOf } from './context.js';
import type { Run } from './context.js';

const AFTER = `
Exit codes: 0 done, 1 failed, 2 wrong use, 3 the gateway cannot be reached, 4 refused.
The gateway and what lets you in: --url, --proxy-url, --token and --key, else TAMIS_URL, TAMIS_PROXY_URL, TAMIS_TOKEN
and TAMIS_KEY, else what runs in this clone (.local/endpoints.json).`;

function packageVersion(): string {
  const file = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/**
 * The commands and their help.
 * @param options.isQuiet wrong use is thrown and not written: the caller says it in JSON
 */
export function createProgram(signal: AbortSignal, { isQuiet }: { isQuiet: boolean }): Command {
  const program = new Command('tamis')
    .description('Operates a Tamis installation through its gateway.')
    .version(packageVersion())
    .option('--url <address>', 'the gateway')
    .option('--proxy-url <address>', 'the proxy, where PROXY_PORT gives it an address of its own')
    .option('--token <token>', 'the token of an administrator, for everything but keys and forwarding')
    .option('--key <key>', 'a key of the management side of the proxy, for keys and forwarding')
    .option('--json', 'JSON instead of words; progress as one object in a line')
    .addHelpText('after', AFTER)
    // Before any subcommand is added: they inherit it.
    .exitOverride()
    .allowExcessArguments(false)
    .showHelpAfterError('(--help says more)')
    .configureOutput(isQuiet ? { writeErr: () => undefined } : {})
    .configureHelp({ showGlobalOptions: true });

  const run: Run =
    (work) =>
    (...given) => {
      const command = given.at(-1) as Command;
      const [args, options] = [given.slice(0, -2), given.at(-2)];
      return work(contextOf(command, signal), options as never, ...(args as never));
    };

  addMigrate(program, run);
  addIndexes(program, run);
  addSwap(program, run);
  addEval(program, run);
  addBackup(program, run);
  addImport(program, run);
  addSchedule(program, run);
  addRetention(program, run);
  addCheck(program, run);
  addUpgrade(program, run);
  addUsers(program, run);
  addKeys(program, run);
  addForwarding(program, run);
  addConfig(program, run);
  return program;
}
