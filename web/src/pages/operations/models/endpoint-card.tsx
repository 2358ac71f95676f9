import { Badge, Button, Group, Paper, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import type { Endpoint } from './queries';

function Checked({
  reachable,
  found,
  detail,
  served,
}: {
  reachable: boolean;
  found: boolean | null;
  detail: string | null;
  /** By a server; otherwise by Tamis itself. */
  served: boolean;
}) {
  const { operations: t } = useMessages();
  const fine = reachable && found !== false;
  if (!served)
    return (
      <Text size="sm" c={fine ? undefined : 'error'} role="status">
        {fine ? t.usable : detail}
      </Text>
    );
  return (
    <Text size="sm" c={fine ? undefined : 'error'} role="status">
      {fine ? t.reachable : reachable ? t.reachableNoModel : t.unreachable(detail ?? '')}
    </Text>
  );
}

export function EndpointCard({ endpoint }: { endpoint: Endpoint }) {
  const { operations: t } = useMessages();
  const queryClient = useQueryClient();
  const { name, model_type: type } = endpoint;
  const params = { path: { type, name } };
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['models'] });
  const check = useMutation({
    mutationFn: () => bodyOf(api.POST('/model-endpoints/{type}/{name}/validate', { params })),
  });
  const makeDefault = useMutation({
    mutationFn: () => api.POST('/model-endpoints/{type}/{name}/set-default', { params }),
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: () => api.DELETE('/model-endpoints/{type}/{name}', { params }),
    onSettled: refresh,
  });
  return (
    <Paper withBorder p="md" component="article" aria-label={name}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600}>{name}</Text>
          <Badge variant="default">{t.kinds[type]}</Badge>
          {endpoint.is_default && (
            <Badge variant="dot" color="green">
              {t.isDefault}
            </Badge>
          )}
        </Group>
        <Group gap="xs">
          <Button size="xs" variant="default" loading={check.isPending} onClick={() => check.mutate()}>
            {t.check}
          </Button>
          {!endpoint.is_default && (
            <>
              <Button
                size="xs"
                variant="default"
                loading={makeDefault.isPending}
                onClick={() => makeDefault.mutate()}
              >
                {t.makeDefault}
              </Button>
              <ConfirmButton
                label={t.deleteEndpoint}
                question={t.deleteEndpointQuestion(name)}
                onConfirm={() => remove.mutate()}
              />
            </>
          )}
        </Group>
      </Group>
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {endpoint.model_name} · {endpoint.endpoint}
      </Text>
      {check.data && (
        <Checked
          reachable={check.data.reachable}
          found={check.data.model_found}
          detail={check.data.detail}
          served={endpoint.endpoint !== 'onnx:'}
        />
      )}
    </Paper>
  );
}
