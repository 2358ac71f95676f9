import { api } from '../../../api/client';
import { changedFields } from '../../../shared/changed-fields';

/** A user as the form has it. */
export interface UserValues {
  name: string;
  email: string;
  admin: boolean;
  quota: number | string;
}

function fieldsOf({ name, email, admin, quota }: UserValues) {
  return {
    display_name: name,
    email: email === '' ? null : email,
    file_quota: typeof quota === 'number' ? quota : null,
    is_admin: admin,
  };
}

/** Sends what the form has changed alone: the rest may have been changed by others since the list was read. */
export async function changeUser(id: number, before: UserValues, after: UserValues): Promise<void> {
  const body = changedFields(fieldsOf(before), fieldsOf(after));
  if (Object.keys(body).length > 0)
    await api.PATCH('/users/{id}', { params: { path: { id: String(id) } }, body });
}
