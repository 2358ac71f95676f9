import type { Adapters } from '../../ports/adapters.js';
import { AppError } from '../../../schemas/app-error.js';
import type { Config } from '../../../schemas/config/config.js';
import { createUser } from './create-user.js';

/**
 * Makes the accounts of SEED_USERS that are missing; those that are there stay as they are. Several gateways may do
 * it at once: the second finds what the first has made.
 * @throws Error that names the accounts whose token another user has, once the others are made
 */
export async function seedUsers(
  stores: Pick<Adapters, 'users' | 'counters'>,
  seeds: Config['auth']['seedUsers'],
  defaultFileQuota: number,
): Promise<void> {
  const refused: string[] = [];
  for (const [index, { token, file_quota, ...seed }] of seeds.entries()) {
    const identity = { externalUserId: seed.external_user_id, email: seed.email };
    if ((await stores.users.findByIdentity(identity)) !== null) continue;
    const fields = {
      display_name: seed.display_name ?? null,
      external_user_id: seed.external_user_id ?? null,
      email: seed.email ?? null,
      is_admin: seed.is_admin,
      file_quota: file_quota ?? null,
    };
    try {
      await createUser(stores, fields, { token: token ?? null, defaultFileQuota });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'USER_EXISTS') throw error;
      if ((await stores.users.findByIdentity(identity)) === null) refused.push(`SEED_USERS[${index}]`);
    }
  }
  if (refused.length > 0) throw new Error(`${refused.join(', ')}: the token is that of another user`);
}
