import { useCallback, useMemo } from 'react';
import { navigate, useSearch } from 'wouter/use-browser-location';

/**
 * The query of the address as it stands there, and how it is set. The router's own hook decodes it as a whole before
 * its values are decoded, so that `%` in a value, as of a filter, would be read as something else.
 */
export function useAddressQuery() {
  const search = useSearch();
  const query = useMemo(() => new URLSearchParams(search), [search]);
  const setQuery = useCallback((wanted: URLSearchParams, options: { replace: boolean }) => {
    const text = wanted.toString();
    navigate(text === '' ? window.location.pathname : `?${text}`, options);
  }, []);
  return [query, setQuery] as const;
}
