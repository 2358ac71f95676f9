import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { CapiState } from '../overview/capi-state';
import { forwardingQuery } from '../queries';
import { Quarantine } from './quarantine';
import { WatcherCard } from './watcher-card';

function ForwardingPage() {
  const { signals: t } = useMessages();
  const forwarding = useQuery(forwardingQuery);
  return (
    <Page title={t.forwarding} hint={t.forwardingHint}>
      <QueryView query={forwarding}>
        {(data) => (
          <Stack>
            <CapiState forwarding={data} />
            {data.watchers.length === 0 ? (
              <Empty title={t.noWatchers}>{t.noSignalsHint}</Empty>
            ) : (
              data.watchers.map((watcher) => (
                <WatcherCard key={watcher.watcher} watcher={watcher} enabled={data.enabled} />
              ))
            )}
          </Stack>
        )}
      </QueryView>
      <Quarantine />
    </Page>
  );
}

export default ForwardingPage;
