import { DEFAULT_ADMIN } from '../../schemas/documents/users.js';
import type { ImportSource } from '../../schemas/imports/imports.js';
import { createUser } from '../documents/commands/create-user.js';
import type { Adapters } from '../ports/adapters.js';
import type { ImportStore } from '../ports/imports.js';
import type { SourceUser } from './read-source.js';

export interface ImportUsersDeps extends Pick<Adapters, 'users' | 'counters'> {
  imports: Pick<ImportStore, 'mapUser'>;
  defaultFileQuota: number;
}

/**
 * Users of the source become users here: those of the same external id or mail address, else new ones. A new one has
 * no token, which the source does not tell, and is no administrator: an administrator of this service says who is.
 */
export async function importUsers(
  { imports, defaultFileQuota, ...stores }: ImportUsersDeps,
  source: ImportSource,
  found: readonly SourceUser[],
  { dryRun }: { dryRun: boolean },
): Promise<{ users: number; users_known: number }> {
  const counts = { users: 0, users_known: 0 };
  for (const { id, file_quota: quota, display_name, external_user_id, email } of found) {
    const known = await knownUser(stores, source, { id, external_user_id, email });
    counts[known === null ? 'users' : 'users_known'] += 1;
    if (dryRun) continue;
    const ours =
      known ??
      (
        await createUser(
          stores,
          { display_name, external_user_id, email, file_quota: quota ?? null, is_admin: false },
          { token: null, defaultFileQuota },
        )
      ).user_id;
    await imports.mapUser(source.source_id, id, ours);
  }
  return counts;
}

async function knownUser(
  { users }: Pick<Adapters, 'users'>,
  source: ImportSource,
  { id, external_user_id: externalUserId, email }: Pick<SourceUser, 'id' | 'external_user_id' | 'email'>,
): Promise<number | null> {
  const mapped = source.users[id];
  if (mapped !== undefined && (await users.get(mapped)) !== null) return mapped;
  if (id === DEFAULT_ADMIN) return DEFAULT_ADMIN;
  if (externalUserId === null && email === null) return null;
  return (await users.findByIdentity({ externalUserId, email }))?.user_id ?? null;
}
