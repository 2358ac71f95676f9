import { Badge, Button, Group, Paper, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { TemporalLink } from '../../../shared/temporal-link';
import { Time } from '../../../shared/time';
import type { Watcher } from '../queries';
import { useSteering } from './use-steering';

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div style={{ minWidth: 0 }}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text component="div" size="sm" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </div>
  );
}

interface Props {
  watcher: Watcher;
  /** Whether signals are sent at all. */
  enabled: boolean;
}

function Steering({ watcher: row, enabled }: Props) {
  const { signals: t } = useMessages();
  const format = useFormat();
  const steering = useSteering(row.watcher);
  const button = { size: 'xs', variant: 'default', disabled: steering.isPending } as const;
  return (
    <Group gap="xs">
      {row.pausedSince === null ? (
        <Button {...button} onClick={() => steering.mutate({ kind: 'pause' })}>
          {t.pause}
        </Button>
      ) : (
        <Button {...button} onClick={() => steering.mutate({ kind: 'resume' })}>
          {t.resume}
        </Button>
      )}
      {row.nextAttempt !== null && (
        <Button {...button} onClick={() => steering.mutate({ kind: 'retry' })}>
          {t.retryNow}
        </Button>
      )}
      {row.deferred > 0 && enabled && (
        <Button {...button} onClick={() => steering.mutate({ kind: 'release' })}>
          {t.release}
        </Button>
      )}
      {row.deferred > 0 && (
        <ConfirmButton
          label={t.discardDeferred}
          question={t.discardDeferredQuestion(format.number(row.deferred), row.watcher)}
          reasonLabel={t.discardReason}
          onConfirm={(reason) => steering.mutate({ kind: 'discard-deferred', reason })}
        />
      )}
      {row.waiting > 0 && (
        <ConfirmButton
          label={t.discard}
          question={t.discardQuestion(format.number(row.waiting), row.watcher)}
          reasonLabel={t.discardReason}
          onConfirm={(reason) => steering.mutate({ kind: 'discard', reason })}
        />
      )}
    </Group>
  );
}

export function WatcherCard({ watcher: row, enabled }: Props) {
  const { signals: t } = useMessages();
  const format = useFormat();
  const { oldest, lastSuccess, lastError, nextAttempt, pausedSince } = row;
  return (
    <Paper withBorder p="md" component="article" aria-label={row.watcher}>
      <Group justify="space-between" mb="sm">
        <Group gap="xs" style={{ minWidth: 0 }}>
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {row.watcher}
          </Text>
          {pausedSince !== null && (
            <Badge variant="dot" color="orange">
              {t.pausedSince} <Time at={pausedSince} />
            </Badge>
          )}
          <TemporalLink
            target={{ workflow: `forward-signals/${encodeURIComponent(row.watcher)}` }}
            name={row.watcher}
          />
          {row.loginWanted && (
            <Badge variant="dot" color="orange">
              {t.needsLogin}
            </Badge>
          )}
        </Group>
        <Steering watcher={row} enabled={enabled} />
      </Group>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
        <Fact label={t.waiting}>
          {format.number(row.waiting)}
          {oldest !== null && (
            <>
              , {t.waitingSince} <Time at={oldest} />
            </>
          )}
        </Fact>
        <Fact label={t.withheld}>{format.number(row.withheld + row.deferred)}</Fact>
        <Fact label={t.quarantined}>{format.number(row.quarantined)}</Fact>
        <Fact label={t.lastSuccess}>{lastSuccess === null ? t.never : <Time at={lastSuccess} />}</Fact>
        <Fact label={t.lastAnswer}>
          {lastError === null ? (
            t.never
          ) : (
            <>
              {lastError.message} (<Time at={lastError.at} />)
            </>
          )}
        </Fact>
        {nextAttempt !== null && (
          <Fact label={t.nextAttempt}>
            <Time at={nextAttempt} />
          </Fact>
        )}
      </SimpleGrid>
    </Paper>
  );
}
