import { Button, Group, Progress, Text } from '@mantine/core';
import { useState } from 'react';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { PutIntoWorkspace } from './put-into-workspace';

interface Props {
  partition: string;
  files: readonly string[];
  /** How many of them the filter hides. */
  unseen: number;
  deleting: { files: readonly string[]; gone: number } | null;
  onDelete: () => void;
  onClear: () => void;
}

function Deleting({ files, gone }: NonNullable<Props['deleting']>) {
  const { documents: t } = useMessages();
  const format = useFormat();
  const said = t.deletingFiles(format.number(gone), format.number(files.length));
  return (
    <Group gap="sm">
      <Text size="sm">{said}</Text>
      <Progress value={(100 * gone) / files.length} aria-label={said} w={160} />
    </Group>
  );
}

/** What can be done with all files that are chosen. */
export function ChosenBar({ partition, files, unseen, deleting, onDelete, onClear }: Props) {
  const { documents: t, common } = useMessages();
  const format = useFormat();
  const [putting, setPutting] = useState(false);
  const hint = unseen > 0 ? ` ${t.unseenToo(format.number(unseen))}` : '';
  return (
    <>
      {deleting !== null && <Deleting {...deleting} />}
      {files.length > 0 && (
        <Group gap="sm" role="group" aria-label={t.chosenFiles}>
          <Text size="sm" aria-live="polite">
            {t.chosen(format.number(files.length))}
          </Text>
          <Button size="xs" variant="default" onClick={() => setPutting(true)}>
            {t.intoWorkspace}
          </Button>
          <ConfirmButton
            label={common.delete}
            question={`${t.deleteChosenQuestion(format.number(files.length))}${hint}`}
            disabled={deleting !== null}
            onConfirm={onDelete}
          />
          <Button size="xs" variant="subtle" color="gray" onClick={onClear}>
            {t.chooseNone}
          </Button>
        </Group>
      )}
      {putting && <PutIntoWorkspace {...{ partition, files }} onClose={() => setPutting(false)} />}
    </>
  );
}
