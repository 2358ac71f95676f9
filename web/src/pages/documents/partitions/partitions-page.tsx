import { SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { partitionsQuery } from '../queries';
import { NewPartition } from './new-partition';
import { PartitionCard } from './partition-card';

function PartitionsPage() {
  const { documents: t } = useMessages();
  const partitions = useQuery(partitionsQuery);
  return (
    <Page title={t.partitions} hint={t.partitionsHint} actions={<NewPartition />}>
      <QueryView query={partitions}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.noPartitions}>{t.noPartitionsHint}</Empty>
          ) : (
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 3, xl: 4 }}>
              {rows.map((partition) => (
                <PartitionCard key={partition.partition} partition={partition} />
              ))}
            </SimpleGrid>
          )
        }
      </QueryView>
    </Page>
  );
}

export default PartitionsPage;
