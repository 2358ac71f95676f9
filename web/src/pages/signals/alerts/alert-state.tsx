import { Badge } from '@mantine/core';
import { useMessages } from '../../../i18n/language';
import type { Alert } from '../queries';

export function AlertState({ alert: { filtered, forwardedToCapi } }: { alert: Alert }) {
  const { signals: t } = useMessages();
  const state = filtered === true ? 'filtered' : forwardedToCapi === true ? 'forwarded' : 'open';
  const colour = { filtered: 'gray', forwarded: 'green', open: 'orange' }[state];
  return (
    <Badge variant="dot" color={colour}>
      {t.stateOf[state]}
    </Badge>
  );
}
