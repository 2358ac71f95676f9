import { Anchor, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { to } from '../../../shared/routes';
import { usePathParams } from '../../../shared/use-path-params';
import { filesQuery, mayEdit, mayOwn, partitionsQuery } from '../queries';
import { UploadArea } from '../uploads/upload-area';
import { UploadList } from '../uploads/upload-list';
import { useUploads } from '../uploads/upload-queue';
import { useFreshListing } from '../uploads/use-fresh-listing';
import { FailedFiles } from './failed-files';
import { FilesTable } from './files-table';
import { useDeletedFiles } from './use-deleted-files';

function Files({ partition }: { partition: string }) {
  const { documents: t } = useMessages();
  const partitions = useQuery(partitionsQuery);
  const files = useQuery(filesQuery(partition));
  const uploads = useUploads(partition);
  const deleted = useDeletedFiles(partition);
  const own = partitions.data?.find((row) => row.partition === partition);
  const editable = mayEdit(own);
  useFreshListing(partition, uploads);
  return (
    <Page
      title={partition}
      hint={
        <Anchor component={Link} href={to.partitions} size="sm">
          ← {t.partitions}
        </Anchor>
      }
      actions={
        own !== undefined &&
        mayOwn(own) && (
          <Button component={Link} href={to.settings(partition)} variant="default">
            {t.settings}
          </Button>
        )
      }
    >
      {editable && <UploadArea partition={partition} />}
      <UploadList partition={partition} uploads={uploads} />
      <FailedFiles partition={partition} editable={editable} />
      <QueryView query={files}>
        {({ rows, complete }) =>
          rows.length === 0 ? (
            <Empty title={t.noFiles}>{editable ? t.noFilesHint : t.noFilesRead}</Empty>
          ) : (
            <FilesTable
              partition={partition}
              rows={rows}
              expected={complete ? 0 : (own?.document_count ?? 0)}
              hidden={deleted.hidden}
              editable={editable}
              onDelete={deleted.remove}
            />
          )
        }
      </QueryView>
    </Page>
  );
}

/** Another partition is another page: what is hidden, chosen or filtered belongs to one. */
function FilesPage() {
  const { partition = '' } = usePathParams<{ partition: string }>();
  return <Files key={partition} partition={partition} />;
}

export default FilesPage;
