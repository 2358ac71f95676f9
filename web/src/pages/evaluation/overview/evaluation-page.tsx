import { Button, Select, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { to } from '../../../shared/routes';
import { usePathParams } from '../../../shared/use-path-params';
import { mayEdit, mayOwn, partitionsQuery } from '../../documents/queries';
import type { PartitionRow } from '../../documents/queries';
import { runsQuery, setsQuery } from '../queries';
import { RunsTable } from './runs-table';
import { SetsTable } from './sets-table';
import { StartRun } from './start-run';
import { UploadSet } from './upload-set';

function Sections({ partition }: { partition: string }) {
  const { evaluation: t } = useMessages();
  const sets = useQuery(setsQuery(partition));
  const runs = useQuery(runsQuery(partition));
  return (
    <>
      <section aria-label={t.sets}>
        <Title order={2} size="h4" mb="xs">
          {t.sets}
        </Title>
        <QueryView query={sets}>
          {(list) =>
            list.length === 0 ? (
              <Empty title={t.noSets}>{t.noSetsHint}</Empty>
            ) : (
              <SetsTable partition={partition} sets={list} />
            )
          }
        </QueryView>
      </section>
      <section aria-label={t.runs}>
        <Title order={2} size="h4" mb="xs">
          {t.runs}
        </Title>
        <QueryView query={runs}>
          {(list) =>
            list.length === 0 ? (
              <Empty title={t.noRuns}>{t.noRunsHint}</Empty>
            ) : (
              <RunsTable partition={partition} runs={list} />
            )
          }
        </QueryView>
      </section>
    </>
  );
}

function Actions({ chosen }: { chosen: PartitionRow }) {
  const { evaluation: t } = useMessages();
  const { partition } = chosen;
  return (
    <>
      {mayOwn(chosen) && (
        <Button component={Link} href={to.feedback(partition)} variant="default">
          {t.feedback}
        </Button>
      )}
      <UploadSet partition={partition} />
      <StartRun partition={partition} />
    </>
  );
}

function Chosen({ rows }: { rows: readonly PartitionRow[] }) {
  const { evaluation: t, documents } = useMessages();
  const [, navigate] = useLocation();
  const { partition: wanted } = usePathParams<{ partition?: string }>();
  const [first] = rows;
  if (first === undefined)
    return (
      <Page title={t.evaluation} hint={t.hint}>
        <Empty title={t.noPartition}>{t.noPartitionHint}</Empty>
      </Page>
    );
  // One that the address names and that is not there must not be another one without a word.
  const chosen = wanted === undefined ? first : rows.find(({ partition }) => partition === wanted);
  return (
    <Page
      title={t.evaluation}
      hint={t.hint}
      actions={
        <>
          <Select
            aria-label={documents.partition}
            data={rows.map((row) => row.partition)}
            value={chosen?.partition ?? null}
            onChange={(value) => value !== null && navigate(to.evaluation(value))}
            allowDeselect={false}
            searchable
          />
          {chosen !== undefined && <Actions key={chosen.partition} chosen={chosen} />}
        </>
      }
    >
      {chosen === undefined ? (
        <Empty title={t.unknownPartition(wanted ?? '')}>{t.unknownPartitionHint}</Empty>
      ) : (
        <Sections key={chosen.partition} partition={chosen.partition} />
      )}
    </Page>
  );
}

/** How well partitions are searched and answered from. */
function EvaluationPage() {
  const partitions = useQuery(partitionsQuery);
  return (
    <QueryView query={partitions}>{(rows) => <Chosen rows={rows.filter((row) => mayEdit(row))} />}</QueryView>
  );
}

export default EvaluationPage;
