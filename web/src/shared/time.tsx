import { useSyncExternalStore } from 'react';
import { useFormat } from '../i18n/format';
import { pageClock } from './clock';

/** A time in words; the exact one in the reader's zone on hover. Without more: long tables hold many. */
export function Time({ at }: { at: string }) {
  const format = useFormat();
  useSyncExternalStore(pageClock.subscribe, pageClock.current);
  if (Number.isNaN(new Date(at).getTime())) return <span>{at}</span>;
  return (
    <time dateTime={at} title={format.exact(at)}>
      {format.relative(at)}
    </time>
  );
}
