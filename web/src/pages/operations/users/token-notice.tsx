import { Alert, Code, Group, Text } from '@mantine/core';
import { useMessages } from '../../../i18n/language';
import { CopyText } from '../../../shared/copy-text';
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
        <CopyText text={token} size="compact-sm" />
      </Group>
    </Alert>
  );
}
