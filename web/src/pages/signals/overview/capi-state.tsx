import { Alert, Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { useMessages } from '../../../i18n/language';
import { to } from '../../../shared/routes';
import type { Forwarding } from '../queries';
import { failureOf } from './capi-failure';

interface Props {
  forwarding: Forwarding;
  /** Whether to lead to the page that shows more. */
  link?: boolean;
}

export function CapiState({ forwarding, link = false }: Props) {
  const { signals: t } = useMessages();
  const failure = failureOf(forwarding);
  const fine = forwarding.enabled && failure === null;
  const text = !forwarding.enabled ? t.capiOff : failure === null ? t.capiFine : t.capiAway(failure);
  return (
    <Alert color={fine ? 'green' : 'orange'} variant="outline" role="status">
      {text}{' '}
      {link && (
        <Anchor component={Link} href={to.forwarding} size="sm" underline="always">
          {t.forwarding}
        </Anchor>
      )}
    </Alert>
  );
}
