import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { useAddressQuery } from './use-address-query';

interface AddressState<T> {
  read: (query: URLSearchParams) => T;
  write: (value: T) => URLSearchParams;
  /** How long it has to rest before it counts. */
  pauseMs: number;
}

/**
 * What a person sets, once it rests, and how it is set. The address holds it, so that it can be shared; an address that
 * changes otherwise, as by the link of the navigation, is read anew.
 */
export function useAddressState<T>({ read, write, pauseMs }: AddressState<T>) {
  const [query, setQuery] = useAddressQuery();
  const [value, setValue] = useState(() => read(query));
  const [settled] = useDebouncedValue(value, pauseMs);
  const text = query.toString();
  const written = useRef(text);
  useEffect(() => {
    const wanted = write(settled);
    written.current = wanted.toString();
    setQuery(wanted, { replace: true });
  }, [settled, write, setQuery]);
  useEffect(() => {
    if (text !== written.current) setValue(read(new URLSearchParams(text)));
  }, [text, read]);
  return [value, setValue, settled] as const;
}
