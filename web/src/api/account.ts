import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client';

/** The user who is signed in: its files, quota and partitions, which change with what is done in partitions. */
export const accountQuery = queryOptions({
  queryKey: ['partitions', 'account'],
  queryFn: () => bodyOf(api.GET('/users/info')),
});
