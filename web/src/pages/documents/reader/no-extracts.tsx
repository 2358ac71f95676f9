import { useQuery } from '@tanstack/react-query';
import { ApiError } from '../../../api/api-error';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { QueryView } from '../../../shared/query-view';
import { fileQuery } from '../queries';

/** Of a file that is not there the server lists no extracts, as of one that has none: which of both is said here. */
export function NoExtracts({ partition, file }: { partition: string; file: string }) {
  const { documents: t } = useMessages();
  const asked = useQuery(fileQuery(partition, file));
  if (asked.error instanceof ApiError && asked.error.status === 404)
    return <Empty title={t.noSuchFile(file)}>{t.noSuchFileHint}</Empty>;
  return <QueryView query={asked}>{() => <Empty title={t.noChunks}>{t.noChunksHint}</Empty>}</QueryView>;
}
