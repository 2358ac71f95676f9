import { useMemo } from 'react';
import { useParams } from 'wouter';
import { decodePart } from './routes';

/** What the path of the page names; the router itself leaves some letters of a name encoded, `:` among them. */
export function usePathParams<T extends Partial<Record<string, string>>>(): T {
  const params = useParams<Record<string, string | undefined>>();
  return useMemo(
    () =>
      Object.fromEntries(
        Object.entries(params).map(([name, value]) => [
          name,
          value === undefined ? value : decodePart(value),
        ]),
      ) as T,
    [params],
  );
}
