import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';

async function readUsers() {
  return (await bodyOf(api.GET('/users/'))).users;
}

export type User = Awaited<ReturnType<typeof readUsers>>[number];

/** A token as the server shows it once. */
export interface NewToken {
  name: string;
  token: string;
}

export const usersQuery = queryOptions({ queryKey: ['users'], queryFn: readUsers });
