import { Alert, Button, Code, CopyButton, Group, Text } from '@mantine/core';
import { useMessages } from '../../../i18n/language';
import type { NewToken } from './queries';

export function TokenNotice({ token: { name, token }, onClose }: { token: NewToken; onClose: () => void }) {
  const { operations: t, common } = useMessages();
  return (
    <Alert
      color="green"
      variant="outline"
      role="status"
      title={t.tokenOf(name)}
      withCloseButton
      closeButtonLabel={common.close}
      onClose={onClose}
    >
      <Text size="sm" mb="xs">
        {t.tokenOnce}
      </Text>
      <Group gap="xs">
        <Code style={{ overflowWrap: 'anywhere' }}>{token}</Code>
        <CopyButton value={token}>
          {({ copied, copy }) => (
            <Button size="compact-sm" variant="default" onClick={copy}>
              {copied ? common.copied : common.copy}
            </Button>
          )}
        </CopyButton>
      </Group>
    </Alert>
  );
}
