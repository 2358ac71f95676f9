import { Grid, Group, SegmentedControl, SimpleGrid, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { ErrorNotice } from '../../../shared/error-notice';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { useAddressQuery } from '../../../shared/use-address-query';
import { PageLoader } from '../../../shell/page-loader';
import { distributionQuery, forwardingQuery, statsQuery } from '../queries';
import type { Period } from '../queries';
import { CapiState } from './capi-state';
import { Figures } from './figures';
import { TopList } from './top-lists';

const TimeChart = lazy(() => import('./time-chart'));
const WorldMap = lazy(() => import('./world-map'));

const PERIODS: readonly Period[] = ['7d', '30d', 'all'];

function OverviewPage() {
  const { signals: t } = useMessages();
  const [query, setQuery] = useAddressQuery();
  const period = PERIODS.find((one) => one === query.get('period')) ?? '30d';
  const stats = useQuery(statsQuery);
  const forwarding = useQuery(forwardingQuery);
  const distribution = useQuery(distributionQuery(period));
  return (
    <Page title={t.overview} hint={t.overviewHint}>
      {forwarding.data && <CapiState forwarding={forwarding.data} link />}
      {forwarding.isError && <ErrorNotice error={forwarding.error} retry={() => void forwarding.refetch()} />}
      <QueryView query={stats}>
        {(counts) =>
          counts.total === 0 ? (
            <Empty title={t.noSignals}>{t.noSignalsHint}</Empty>
          ) : (
            <Figures stats={counts} forwarding={forwarding.data} />
          )
        }
      </QueryView>
      {stats.data !== undefined && stats.data.total > 0 && (
        <QueryView query={distribution}>
          {(data) => (
            <Stack>
              <Group justify="space-between">
                <Title order={2} size="h4">
                  {t.perDay}
                </Title>
                <SegmentedControl
                  aria-label={t.period}
                  value={period}
                  onChange={(value) => setQuery(new URLSearchParams({ period: value }), { replace: true })}
                  data={PERIODS.map((value) => ({ value, label: t.periods[value] }))}
                />
              </Group>
              <Suspense fallback={<PageLoader />}>
                <TimeChart days={data.dailyTrend} period={period} />
              </Suspense>
              <SimpleGrid cols={{ base: 1, md: 2 }}>
                <TopList kind="scenario" rows={data.byScenario} />
                <TopList
                  kind="country"
                  rows={data.byCountry.map(({ countryCode: country, count }) => ({ country, count }))}
                />
              </SimpleGrid>
              <Grid>
                <Grid.Col span={12}>
                  <Title order={2} size="h4" mb="xs">
                    {t.map}
                  </Title>
                  <Suspense fallback={<PageLoader />}>
                    <WorldMap countries={data.byCountry} />
                  </Suspense>
                </Grid.Col>
              </Grid>
            </Stack>
          )}
        </QueryView>
      )}
    </Page>
  );
}

export default OverviewPage;
