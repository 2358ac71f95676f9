import { Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import '@mantine/dropzone/styles.css';
import { useQuery } from '@tanstack/react-query';
import { accountQuery } from '../../../api/account';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { typesQuery } from '../queries';
import { uploadQueue } from './upload-queue';

/** Takes dropped files and folders; what cannot be read the server says, with its reason. */
export function UploadArea({ partition }: { partition: string }) {
  const { documents: t } = useMessages();
  const format = useFormat();
  const types = useQuery(typesQuery);
  const { data: me } = useQuery(accountQuery);
  return (
    <Dropzone
      onDrop={(files) => uploadQueue.add(partition, files)}
      inputProps={{ 'aria-label': t.drop }}
      py="lg"
      multiple
      useFsAccessApi={false}
    >
      <Text ta="center" fw={600}>
        {t.drop}
      </Text>
      {types.data && (
        <Text ta="center" size="sm" c="dimmed" lineClamp={1} title={types.data.join(', ')}>
          {t.dropHint(types.data.join(', '))}
        </Text>
      )}
      {me !== undefined && me.file_quota >= 0 && (
        <Text ta="center" size="sm" c="dimmed">
          {t.quota(format.number(me.total_files), format.number(me.file_quota))}
        </Text>
      )}
    </Dropzone>
  );
}
