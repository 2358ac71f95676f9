import type { Command } from 'commander';
import { ConfigError } from '../../../../schemas/config/config-error.js';
import { readEnvironment } from '../../../../schemas/config/read-environment.js';
import { CliFailure, EXIT } from '../cli-failure.js';
import type { Run } from '../context.js';

/** `tamis config check`: what gateway and worker would say of the environment, without starting them. */
export function addConfig(program: Command, run: Run): void {
  const config = program.command('config').description('the environment that gateway and worker start with');
  config
    .command('check')
    .description('parse the environment and .env of this folder, and say what is wrong')
    .action(
      run(async (context) => {
        // Loaded for this command alone.
        const { parseConfig } = await import('../../../../schemas/config/config.js');
        const { unreadVariableNotes } = await import('../../../../schemas/config/environment.js');
        let notes: string[];
        try {
          const environment = readEnvironment(context.env);
          parseConfig(environment);
          notes = unreadVariableNotes(environment);
        } catch (error) {
          if (error instanceof ConfigError) throw new CliFailure(EXIT.failed, error.message);
          throw error;
        }
        context.show({ valid: true, notes }, ['The configuration is valid.', ...notes]);
      }),
    );
}
