import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf, send } from '../../../api/client';

export const ROLES = ['viewer', 'editor', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export function configQuery(partition: string) {
  return queryOptions({
    queryKey: ['partition-config', partition],
    queryFn: () => bodyOf(api.GET('/partition/{partition}/config', { params: { path: { partition } } })),
  });
}

async function readMembers(partition: string) {
  return (await bodyOf(api.GET('/partition/{partition}/users', { params: { path: { partition } } }))).members;
}

export type Member = Awaited<ReturnType<typeof readMembers>>[number];

export function membersQuery(partition: string) {
  return queryOptions({ queryKey: ['members', partition], queryFn: () => readMembers(partition) });
}

async function readSwap(partition: string) {
  return bodyOf(api.GET('/partition/{partition}/embedder-swap', { params: { path: { partition } } }));
}

/** The last move to another embedder; null: there was none. */
export function swapQuery(partition: string) {
  return queryOptions({
    queryKey: ['embedder-swap', partition],
    queryFn: () => readSwap(partition),
    refetchInterval: ({ state: { data } }) => (data?.status === 'running' ? 1_000 : false),
  });
}

/** The embedders that the partition can move to; owners may ask. */
export function embeddersQuery(partition: string) {
  return queryOptions({
    queryKey: ['embedders', partition],
    queryFn: async () =>
      (await bodyOf(api.GET('/partition/{partition}/embedders', { params: { path: { partition } } })))
        .embedders,
  });
}

/** The fewest letters that the server searches by. */
const MIN_LETTERS = 3;

export function candidatesQuery(partition: string, search: string) {
  return queryOptions({
    queryKey: ['candidates', partition, search],
    enabled: search.length >= MIN_LETTERS,
    queryFn: async () =>
      (
        await bodyOf(
          api.GET('/partition/{partition}/users/candidates', {
            params: { path: { partition }, query: { search } },
          }),
        )
      ).candidates,
  });
}

type Change = { user: number } & ({ add: Role } | { role: Role } | { remove: true });

function apply(partition: string, change: Change): Promise<Response> {
  const path = `/partition/${encodeURIComponent(partition)}/users`;
  if ('add' in change) {
    const body = new URLSearchParams({ user_id: String(change.user), role: change.add });
    return send(path, { method: 'POST', body });
  }
  if ('role' in change)
    return send(`${path}/${change.user}`, {
      method: 'PATCH',
      body: new URLSearchParams({ role: change.role }),
    });
  return send(`${path}/${change.user}`, { method: 'DELETE' });
}

/** Adds, changes and removes a member. */
export function useMemberChange(partition: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) => apply(partition, change),
    onSettled: () =>
      Promise.all(
        ['members', 'candidates', 'partitions'].map((key) =>
          queryClient.invalidateQueries({ queryKey: [key] }),
        ),
      ),
  });
}
