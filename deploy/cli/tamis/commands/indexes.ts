import type { Command } from 'commander';
import type { z } from 'zod';
import type { ChunkIndexList } from '../../../../schemas/migrations/migrations-api.js';
import { formatCount, formatTable } from '../format.js';
import type { Run } from '../context.js';

/** `tamis indexes`: the indexes of the vector store, live and kept. */
export function addIndexes(program: Command, run: Run): void {
  const indexes = program
    .command('indexes')
    .description('the indexes of the vector store: the live one, and those that migrations replaced');
  indexes
    .command('list')
    .description('their shape and size')
    .action(
      run(async (context) => {
        const body = await context.gateway().ask<z.output<typeof ChunkIndexList>>('GET', '/admin/indexes');
        const rows = body.indexes.map(({ index, live, schema, step, chunks }) => [
          index,
          live ? 'live' : 'kept',
          `${schema}.${step}`,
          formatCount(chunks),
        ]);
        context.show(body, formatTable(['INDEX', 'STATE', 'SCHEMA', 'CHUNKS'], rows));
      }),
    );
  indexes
    .command('drop')
    .description('delete one that is kept; no rollback leads to it any more')
    .argument('<index>', 'its name')
    .option('-y, --yes', 'do not ask')
    .action(
      run(async (context, options: { yes?: boolean }, index: string) => {
        await context.confirm(`Delete the index ${index}?`, options);
        await context.gateway().ask('DELETE', `/admin/indexes/${encodeURIComponent(index)}`);
        context.show({ index, dropped: true }, [`${index} is deleted.`]);
      }),
    );
}
