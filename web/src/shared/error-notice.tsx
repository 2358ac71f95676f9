import { Alert, Button, Group, Text } from '@mantine/core';
import { useMessages } from '../i18n/language';
import { useErrorText } from './error-text';

/** Says what failed where it failed, and offers to try again. */
export function ErrorNotice({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const { common: t } = useMessages();
  const text = useErrorText();
  return (
    <Alert color="red" variant="outline" title={t.errorTitle} role="alert">
      <Group justify="space-between" gap="sm">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {text(error)}
        </Text>
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            {t.retry}
          </Button>
        )}
      </Group>
    </Alert>
  );
}
