import { Anchor, Badge, Group, Progress, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { to } from '../../../shared/routes';
import { Time } from '../../../shared/time';
import { usePathParams } from '../../../shared/use-path-params';
import { resultsQuery, runQuery, RUN_COLOURS } from '../queries';
import type { Result, Run } from '../queries';
import { QuestionModal } from '../question-modal';
import { MeasuresTable } from './measures-table';
import { ResultsTable } from './results-table';

function Head({ run }: { run: Run }) {
  const { evaluation: t, ask, common } = useMessages();
  const format = useFormat();
  const said = `${format.number(run.questions_done)} / ${format.number(run.questions_total)}`;
  return (
    <>
      <Group gap="sm">
        <Badge variant="dot" color={RUN_COLOURS[run.status]}>
          {t.statuses[run.status]}
        </Badge>
        <Text size="sm">
          {run.set} · {t.version(run.version)} · {said} ·{' '}
          {run.settings.preset !== null && `${ask.preset}${common.colon}${run.settings.preset} · `}
          <Time at={run.started_at} />
        </Text>
        {run.summary !== null && run.summary.failed > 0 && (
          <Text size="sm" c="error">
            {t.failed(format.number(run.summary.failed))}
          </Text>
        )}
      </Group>
      {run.error !== null && <Text c="error">{run.error}</Text>}
      {run.status === 'running' && (
        <Progress
          value={(100 * run.questions_done) / Math.max(1, run.questions_total)}
          animated
          aria-label={said}
        />
      )}
    </>
  );
}

/** One run: its measures, then each question with what was found and answered. */
function RunPage() {
  const { partition = '', run: id = '' } = usePathParams<{ partition: string; run: string }>();
  const { evaluation: t, common } = useMessages();
  const run = useQuery(runQuery(partition, id));
  const results = useQuery(resultsQuery(partition, id, run.data?.questions_done));
  const [opened, setOpened] = useState<Result | null>(null);
  return (
    <Page
      title={run.data?.label ?? `${t.run} ${id.slice(0, 8)}`}
      hint={
        <Anchor component={Link} href={to.evaluation(partition)} size="sm">
          ← {t.evaluation}
          {common.colon}
          {partition}
        </Anchor>
      }
    >
      <QueryView query={run}>
        {(data) => (
          <>
            <Head run={data} />
            {data.summary !== null && <MeasuresTable summary={data.summary} />}
          </>
        )}
      </QueryView>
      <QueryView query={results}>{(list) => <ResultsTable results={list} onOpen={setOpened} />}</QueryView>
      {opened !== null && (
        <QuestionModal
          question={opened.question}
          sides={[{ name: t.answerOfRun, result: opened }]}
          onClose={() => setOpened(null)}
        />
      )}
    </Page>
  );
}

export default RunPage;
