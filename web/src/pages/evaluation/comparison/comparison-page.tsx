import { Anchor, Select, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { to } from '../../../shared/routes';
import { usePathParams } from '../../../shared/use-path-params';
import { comparisonQuery, MEASURES, resultsQuery } from '../queries';
import type { Measure, Result, Run } from '../queries';
import { QuestionModal } from '../question-modal';
import { DifferencesTable } from './differences-table';
import { PairsTable } from './pairs-table';
import { pairResults } from './pair-results';
import type { Pair } from './pair-results';

const NO_RESULTS: readonly Result[] = [];

function useNameOf(): (run: Run | undefined, id: string) => string {
  const format = useFormat();
  return (run, id) =>
    run === undefined ? id.slice(0, 8) : `${run.label ?? id.slice(0, 8)} (${format.short(run.started_at)})`;
}

/** Two runs side by side: their measures, then question by question. */
function ComparisonPage() {
  const { partition = '', before = '', after = '' } = usePathParams<Record<string, string>>();
  const { evaluation: t, common } = useMessages();
  const format = useFormat();
  const nameOf = useNameOf();
  const comparison = useQuery(comparisonQuery(partition, before, after));
  const { data } = comparison;
  const earlier = useQuery(resultsQuery(partition, before, data?.before.questions_done));
  const later = useQuery(resultsQuery(partition, after, data?.after.questions_done));
  const [measure, setMeasure] = useState<Measure>('ndcg_10');
  const [opened, setOpened] = useState<Pair | null>(null);
  const pairs = useMemo(
    () => pairResults(earlier.data ?? NO_RESULTS, later.data ?? NO_RESULTS, measure),
    [earlier.data, later.data, measure],
  );
  const [first, second] = [nameOf(data?.before, before), nameOf(data?.after, after)];
  return (
    <Page
      title={t.comparison}
      hint={
        <Anchor component={Link} href={to.evaluation(partition)} size="sm">
          ← {t.evaluation}
          {common.colon}
          {partition}
        </Anchor>
      }
    >
      <QueryView query={comparison}>
        {({ questions, only_before: onlyBefore, only_after: onlyAfter, measures }) => (
          <>
            <Text>
              {t.compared(first, second)} {t.askedByBoth(format.number(questions))}
              {onlyBefore + onlyAfter > 0 && ` ${t.askedByOne(format.number(onlyBefore + onlyAfter))}`}
            </Text>
            <DifferencesTable measures={measures} />
            <Select
              label={t.byMeasure}
              data={MEASURES.filter((one) => measures[one] !== undefined).map((one) => ({
                value: one,
                label: t.measures[one],
              }))}
              value={measure}
              onChange={(value) => setMeasure(MEASURES.find((one) => one === value) ?? 'ndcg_10')}
              allowDeselect={false}
              w={{ base: '100%', sm: 280 }}
            />
          </>
        )}
      </QueryView>
      <QueryView query={earlier.isSuccess ? later : earlier}>
        {() => <PairsTable {...{ pairs, measure, onOpen: setOpened }} />}
      </QueryView>
      {opened !== null && (
        <QuestionModal
          question={opened.question}
          sides={[
            { name: `${t.before}${common.colon}${first}`, result: opened.before },
            { name: `${t.after}${common.colon}${second}`, result: opened.after },
          ]}
          onClose={() => setOpened(null)}
        />
      )}
    </Page>
  );
}

export default ComparisonPage;
