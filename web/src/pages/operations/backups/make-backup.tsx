import { Button, Checkbox, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { backupRunsQuery } from './queries';

export function MakeBackup() {
  const { operations: t } = useMessages();
  const queryClient = useQueryClient();
  const [vectors, setVectors] = useState(true);
  const make = useMutation({
    mutationFn: () => api.POST('/admin/backups', { body: { vectors } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: backupRunsQuery.queryKey }),
  });
  return (
    <Group gap="md">
      <Checkbox
        label={t.withVectors}
        title={t.withVectorsHint}
        checked={vectors}
        onChange={(event) => setVectors(event.currentTarget.checked)}
      />
      <Button loading={make.isPending} onClick={() => make.mutate()}>
        {t.makeBackup}
      </Button>
    </Group>
  );
}
