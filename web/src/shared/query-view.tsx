import { Center, Loader, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../i18n/language';
import { ErrorNotice } from './error-notice';

interface Props<T> {
  query: { data: T | undefined; isError: boolean; error: Error | null; refetch: () => unknown };
  children: (data: T) => ReactNode;
}

/** What a query answered; a failed refresh is said above what is still shown. */
export function QueryView<T>({ query, children }: Props<T>) {
  const { common: t } = useMessages();
  const retry = () => void query.refetch();
  if (query.data === undefined)
    return query.isError ? (
      <ErrorNotice error={query.error} retry={retry} />
    ) : (
      <Center py="xl">
        <Loader aria-label={t.loading} />
      </Center>
    );
  if (!query.isError) return children(query.data);
  return (
    <Stack>
      <ErrorNotice error={query.error} retry={retry} />
      {children(query.data)}
    </Stack>
  );
}
