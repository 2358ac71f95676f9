import type { Command } from 'commander';
import { ConfigError } from '../../../../schemas/config/config-error.js';
import { readEnvironment } from '../../../../schemas/config/read-environment.js';
import { AppError } from '../../../../schemas/app-error.js';
import { CliFailure, EXIT } from '../cli-failure.js';
import { readLocalEndpoints } from '../find-target.js';
import type { Run } from '../context.js';

/**
 * `tamis check`: compares the stores. It reads every record, so it asks the engines itself: a gateway has requests to
 * serve.
 */
export function addCheck(program: Command, run: Run): void {
  program
    .command('check')
    .description('compare records, upload bytes and chunks; asks the engines, not the gateway')
    .addHelpText(
      'after',
      '\nMeant for a quiet system: what is under way at this moment shows up as well. The engines are those of\n' +
        'MONGODB_URL and OPENSEARCH_URL, or those that run in this clone.',
    )
    .action(
      run(async (context) => {
        try {
          const given = readEnvironment(context.env);
          const local = readLocalEndpoints(context.env);
          const mongodb = given['MONGODB_URL'] ?? local?.mongodb;
          const opensearch = given['OPENSEARCH_URL'] ?? local?.opensearch;
          if (!mongodb || !opensearch)
            throw new CliFailure(EXIT.wrongUse, 'Which engines? Set MONGODB_URL and OPENSEARCH_URL.');
          // Drivers are loaded for this command alone.
          const { compareStores } = await import('../../compare-stores.js');
          const drifts = await compareStores({ ...given, MONGODB_URL: mongodb, OPENSEARCH_URL: opensearch });
          const lines = drifts.map(({ kind, subject, detail }) => `${kind}  ${subject}  ${detail}`);
          context.show({ drifts }, drifts.length === 0 ? ['The stores agree.'] : lines);
          if (drifts.length > 0) throw new CliFailure(EXIT.failed, `${drifts.length} disagreements.`);
        } catch (error) {
          if (error instanceof ConfigError) throw new CliFailure(EXIT.failed, error.message);
          if (error instanceof AppError) throw new CliFailure(EXIT.unreachable, error.message);
          throw error;
        }
      }),
    );
}
