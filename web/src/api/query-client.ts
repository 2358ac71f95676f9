import { MutationCache, QueryClient } from '@tanstack/react-query';
import { ApiError, mayPass } from './api-error';

export function createQueryClient(showError: (error: unknown) => void): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (failures, error) => failures < 3 && mayPass(error),
        retryDelay: (failures, error) =>
          error instanceof ApiError && error.retryAfterSeconds !== null
            ? error.retryAfterSeconds * 1000
            : Math.min(1000 * 2 ** failures, 10_000),
        // The browser's word on being online is often wrong on networks without the Internet.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
    mutationCache: new MutationCache({
      onError: (error, _variables, _context, mutation) => {
        if (mutation.meta?.['ownErrors'] !== true) showError(error);
      },
    }),
  });
}
