import { useFormat } from '../i18n/format';

/** A time in words; the exact one in the reader's zone on hover. Without more: long tables hold many. */
export function Time({ at }: { at: string }) {
  const format = useFormat();
  if (Number.isNaN(new Date(at).getTime())) return <span>{at}</span>;
  return (
    <time dateTime={at} title={format.exact(at)}>
      {format.relative(at)}
    </time>
  );
}
