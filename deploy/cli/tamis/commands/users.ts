import type { Command } from 'commander';
import type { z } from 'zod';
import type { NewUser, User, UserList, UserWithToken } from '../../../../schemas/documents/users-api.js';
import { count } from '../arguments.js';
import type { Context, Run } from '../context.js';
import { formatTable, formatTime } from '../format.js';

const userId = count(1);

/** `tamis users`: who may use the documents' side. */
export function addUsers(program: Command, run: Run): void {
  const users = program
    .command('users')
    .description('who may use the side of the documents, and their tokens');
  users.command('list').description('all of them').action(run(list));
  users
    .command('create')
    .description('a new one; its token is shown this once')
    .argument('<display-name>', 'how it is shown')
    .option('--email <address>', 'its mail address')
    .option('--external-id <id>', 'its id in another system')
    .option('--quota <files>', 'files that it may have; -1: any number', count(-1))
    .option('--admin', 'an administrator')
    .action(run(create));
  users
    .command('delete')
    .description('delete one, and the partitions that no other user owns')
    .argument('<id>', 'its number', userId)
    .option('-y, --yes', 'do not ask')
    .action(
      run(async (context, options: { yes?: boolean }, id: number) => {
        await context.confirm(`Delete user ${id} and the partitions that no other user owns?`, options);
        await context.gateway().ask('DELETE', `/users/${id}`);
        context.show({ id, deleted: true }, [`User ${id} is deleted.`]);
      }),
    );
  users
    .command('token')
    .description('a new token; the old one is dead at once')
    .argument('<id>', 'its number', userId)
    .action(
      run(async (context, _options, id: number) => {
        const path = `/users/${id}/regenerate_token`;
        const body = await context.gateway().ask<z.output<typeof UserWithToken>>('POST', path);
        context.show(body, tokenLines(body));
      }),
    );
}

async function list(context: Context): Promise<void> {
  const body = await context.gateway().ask<z.output<typeof UserList>>('GET', '/users/');
  const rows = body.users.map((user) => [
    String(user.id),
    user.display_name ?? '-',
    user.email ?? '-',
    user.is_admin ? 'admin' : 'user',
    `${user.file_count}${quotaWords(user)}`,
    formatTime(user.created_at),
  ]);
  context.show(body, formatTable(['ID', 'NAME', 'EMAIL', 'RIGHTS', 'FILES', 'SINCE'], rows));
}

function quotaWords({ file_quota: quota }: Pick<z.output<typeof User>, 'file_quota'>): string {
  return quota === null || quota < 0 ? '' : ` of ${quota}`;
}

interface CreateOptions {
  email?: string;
  externalId?: string;
  quota?: number;
  admin?: boolean;
}

async function create(context: Context, options: CreateOptions, name: string): Promise<void> {
  const body = await context.gateway().ask<z.output<typeof NewUser>>('POST', '/users/', {
    display_name: name,
    ...(options.email === undefined ? {} : { email: options.email }),
    ...(options.externalId === undefined ? {} : { external_user_id: options.externalId }),
    ...(options.quota === undefined ? {} : { file_quota: options.quota }),
    ...(options.admin === undefined ? {} : { is_admin: options.admin }),
  });
  context.show(body, tokenLines(body));
}

function tokenLines({ id, display_name: name, token }: z.output<typeof NewUser>): string[] {
  return [`User ${id}${name === null ? '' : ` (${name})`}`, `Token, shown this once: ${token}`];
}
