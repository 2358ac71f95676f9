import { Button, FileButton } from '@mantine/core';
import { useMessages } from '../../../i18n/language';
import { uploadQueue } from './upload-queue';

interface Props {
  partition: string;
  /** The id that the chosen file gets. */
  file: string;
  onChosen?: () => void;
}

/** Uploads a file from the reader's machine under the id of one whose task failed: the server keeps none of those. */
export function ChooseAgain({ partition, file, onChosen }: Props) {
  const { documents: t, common } = useMessages();
  return (
    <FileButton
      onChange={(chosen) => {
        if (chosen === null) return;
        uploadQueue.add(partition, [chosen], { fileId: file, replace: false });
        onChosen?.();
      }}
    >
      {(button) => (
        <Button
          {...button}
          size="compact-xs"
          variant="default"
          aria-label={`${t.chooseAgain}${common.colon}${file}`}
        >
          {t.chooseAgain}
        </Button>
      )}
    </FileButton>
  );
}
