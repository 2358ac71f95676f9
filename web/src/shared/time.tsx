import { Tooltip } from '@mantine/core';
import { useFormat } from '../i18n/format';

/** A time in words; the exact one in the reader's zone on hover or focus. */
export function Time({ at }: { at: string }) {
  const format = useFormat();
  if (Number.isNaN(new Date(at).getTime())) return <span>{at}</span>;
  return (
    <Tooltip label={format.exact(at)} events={{ hover: true, focus: true, touch: true }}>
      <time dateTime={at}>{format.relative(at)}</time>
    </Tooltip>
  );
}
