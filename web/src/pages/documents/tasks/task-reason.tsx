import { Button, Code, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { QueryView } from '../../../shared/query-view';

/** Why a task failed, asked for on demand. */
export function TaskReason({ task, code }: { task: string; code: string | undefined }) {
  const { documents: t, server } = useMessages();
  const [wanted, setWanted] = useState(false);
  const error = useQuery({
    queryKey: ['task-error', task],
    enabled: wanted,
    queryFn: () => bodyOf(api.GET('/indexer/task/{task_id}/error', { params: { path: { task_id: task } } })),
  });
  if (!wanted)
    return (
      <Button size="compact-xs" variant="default" onClick={() => setWanted(true)}>
        {t.showReason}
      </Button>
    );
  return (
    <QueryView query={error}>
      {({ summary, reason }) => (
        <Stack gap={4}>
          <Text size="sm">{server.errors[code ?? ''] ?? summary}</Text>
          {reason !== undefined && reason !== summary && (
            <Code block tabIndex={0}>
              {reason}
            </Code>
          )}
        </Stack>
      )}
    </QueryView>
  );
}
