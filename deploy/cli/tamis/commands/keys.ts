import { Option } from 'commander';
import type { Command } from 'commander';
import type { z } from 'zod';
import type { ApiKeyBody, KeyScope, NewApiKeyBody } from '../../../../schemas/signals/api-keys.js';
import { count } from '../arguments.js';
import { CliFailure, EXIT } from '../cli-failure.js';
import type { Context, Run } from '../context.js';
import { formatTable, formatTime } from '../format.js';
import type { Gateway } from '../gateway.js';

// The schemas themselves would have zod loaded for every command.
const KEY_SCOPES = ['read', 'write', 'admin'] as const satisfies readonly KeyScope[];

/** `tamis keys`: named keys of the proxy's management side. */
export function addKeys(program: Command, run: Run): void {
  const keys = program.command('keys').description('named keys of the management side of the proxy');
  keys
    .command('list')
    .description('all of them; the keys themselves are never shown again')
    .action(run(list));
  keys
    .command('create')
    .description('a new one, shown this once')
    .argument('<name>', 'for people; unique')
    .addOption(
      new Option('--scope <scope>', 'what it may do, the ones before included')
        .choices(KEY_SCOPES)
        .default('read'),
    )
    .action(
      run(async (context, { scope }: { scope: string }, name: string) => {
        const made = await context
          .gateway()
          .ask<z.output<typeof NewApiKeyBody>>('POST', '/api/keys', { name, scopes: [scope] });
        context.show(made, newKeyLines(made));
      }),
    );
  keys
    .command('rotate')
    .description('a new key in the place of the present one')
    .argument('<key>', 'its name or id')
    .option('--grace-seconds <n>', 'the old one is taken so long as well', count(0))
    .action(
      run(async (context, { graceSeconds }: { graceSeconds?: number }, wanted: string) => {
        const gateway = context.gateway();
        const { id } = await find(gateway, wanted);
        const body = graceSeconds === undefined ? {} : { graceSeconds };
        const made = await gateway.ask<z.output<typeof NewApiKeyBody>>(
          'POST',
          `/api/keys/${id}/rotate`,
          body,
        );
        context.show(made, newKeyLines(made));
      }),
    );
  keys
    .command('remove')
    .description('revoke one at once')
    .argument('<key>', 'its name or id')
    .option('-y, --yes', 'do not ask')
    .action(
      run(async (context, options: { yes?: boolean }, wanted: string) => {
        const gateway = context.gateway();
        const { id, name } = await find(gateway, wanted);
        await context.confirm(`Revoke the key ${name}?`, options);
        await gateway.ask('DELETE', `/api/keys/${id}`);
        context.show({ id, name, removed: true }, [`The key ${name} is revoked.`]);
      }),
    );
}

async function list(context: Context): Promise<void> {
  const body = await context.gateway().ask<ApiKeyBody[]>('GET', '/api/keys');
  const rows = body.map(({ id, name, scopes, lastUsedAt, createdAt }) => [
    name,
    scopes.join(', '),
    formatTime(createdAt),
    formatTime(lastUsedAt),
    id,
  ]);
  context.show(body, formatTable(['NAME', 'SCOPES', 'SINCE', 'LAST USED', 'ID'], rows));
}

async function find(gateway: Gateway, wanted: string): Promise<ApiKeyBody> {
  const all = await gateway.ask<ApiKeyBody[]>('GET', '/api/keys');
  const found = all.find(({ id }) => id === wanted) ?? all.find(({ name }) => name === wanted);
  if (found === undefined) throw new CliFailure(EXIT.failed, `There is no key ${wanted}.`);
  return found;
}

function newKeyLines({ name, scopes, key }: z.output<typeof NewApiKeyBody>): string[] {
  return [`Key ${name} (${scopes.join(', ')})`, `Shown this once: ${key}`];
}
