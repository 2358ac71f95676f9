import { Alert, Button, Group, Text } from '@mantine/core';
import { ApiError } from '../../../api/api-error';
import { useMessages } from '../../../i18n/language';
import { ErrorNotice } from '../../../shared/error-notice';
import { conversation } from './conversation';

interface Props {
  fault: unknown;
  /** Shows the conversation as the server has it, in place of what stands here. */
  onShowOther: () => void;
}

/** Why the conversation is not kept, and what can be done about it without losing what stands here. */
export function KeepFault({ fault, onShowOther }: Props) {
  const { ask: t, common } = useMessages();
  const isChanged = fault instanceof ApiError && fault.code === 'CONFLICT';
  const isGone = fault instanceof ApiError && fault.status === 404;
  if (!isChanged && !isGone) return <ErrorNotice error={fault} retry={() => void conversation.keep()} />;
  return (
    <Alert color="red" variant="outline" title={common.errorTitle} role="alert">
      <Group justify="space-between" gap="sm">
        <Text size="sm">{isChanged ? t.changedElsewhere : t.deletedElsewhere}</Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => void conversation.keepAsNew()}>
            {t.keepAsNew}
          </Button>
          {isChanged && (
            <Button size="xs" variant="default" onClick={onShowOther}>
              {t.showOther}
            </Button>
          )}
        </Group>
      </Group>
    </Alert>
  );
}
