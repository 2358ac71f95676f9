import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { TemporalLink } from '../../../shared/temporal-link';
import { Time } from '../../../shared/time';
import { MigrationFigures } from './migration-figures';
import type { Migration } from './queries';

type Step = 'dry_run' | 'run' | 'pause' | 'resume' | 'cancel';

function apply(name: Migration['name'], step: Step): Promise<unknown> {
  const params = { path: { name } };
  switch (step) {
    case 'pause':
      return api.POST('/admin/migrations/{name}/pause', { params });
    case 'resume':
      return api.POST('/admin/migrations/{name}/resume', { params });
    case 'cancel':
      return api.POST('/admin/migrations/{name}/cancel', { params });
    default:
      return api.POST('/admin/migrations/{name}', { params, body: { mode: step, pages_per_second: null } });
  }
}

function Buttons({ migration }: { migration: Migration }) {
  const { operations: t, server } = useMessages();
  const queryClient = useQueryClient();
  const step = useMutation({
    mutationFn: (wanted: Step) => apply(migration.name, wanted),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['operations', 'migrations'] }),
  });
  const state = migration.latest[0]?.state;
  const button = { size: 'xs', variant: 'default', disabled: step.isPending } as const;
  if (state === 'running' || state === 'paused')
    return (
      <Group gap="xs">
        <Button {...button} onClick={() => step.mutate(state === 'running' ? 'pause' : 'resume')}>
          {state === 'running' ? t.pause : t.resume}
        </Button>
        <ConfirmButton label={t.cancel} question={t.cancelQuestion} onConfirm={() => step.mutate('cancel')} />
      </Group>
    );
  if (migration.pending === null) return null;
  return (
    <Group gap="xs">
      <Button {...button} onClick={() => step.mutate('dry_run')}>
        {t.count}
      </Button>
      <ConfirmButton
        label={t.run}
        question={t.runQuestion(server.migrations[migration.name] ?? migration.title)}
        onConfirm={() => step.mutate('run')}
      />
    </Group>
  );
}

function Latest({ run }: { run: Migration['latest'][number] }) {
  const { operations: t, server } = useMessages();
  const format = useFormat();
  const total = run.total === null ? null : format.number(run.total);
  const said = t.progress(format.number(run.done), total, server.units[run.unit] ?? run.unit);
  const active = run.state === 'running' || run.state === 'paused';
  return (
    <Stack gap={4}>
      <Text size="sm" c="dimmed">
        {t.latest(t.modes[run.mode], t.runStates[run.state])}, {said}, <Time at={run.updated_at} />
      </Text>
      {run.error !== null && <Text size="sm">{server.errors[run.error.code] ?? run.error.message}</Text>}
      {active && run.total !== null && (
        <Progress value={(100 * run.done) / Math.max(1, run.total)} animated aria-label={said} />
      )}
      <MigrationFigures figures={run.figures} />
    </Stack>
  );
}

export function MigrationRow({ migration }: { migration: Migration }) {
  const { operations: t, server } = useMessages();
  const format = useFormat();
  const { name, pending, unknown, latest } = migration;
  const title = server.migrations[name] ?? migration.title;
  const unit = server.units[migration.unit] ?? migration.unit;
  const amount = pending === null || pending.amount === null ? null : format.number(pending.amount);
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Group gap="sm">
          <Text fw={600}>{title}</Text>
          {latest[0] !== undefined && <TemporalLink target={{ workflow: `migrate/${name}` }} name={title} />}
        </Group>
        <Buttons migration={migration} />
      </Group>
      <Text size="sm">
        {unknown ??
          (pending === null
            ? t.nothingPending
            : t.pending(server.pending[name] ?? pending.what, amount, unit))}
      </Text>
      {pending !== null && pending.obstacle !== null && (
        <Text size="sm" c="error">
          {t.obstacle(pending.obstacle)}
        </Text>
      )}
      {latest[0] !== undefined && <Latest run={latest[0]} />}
    </Stack>
  );
}
