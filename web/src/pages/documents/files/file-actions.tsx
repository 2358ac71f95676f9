import { ActionIcon, Menu } from '@mantine/core';
import { useRef, useState } from 'react';
import { Link } from 'wouter';
import { useMessages } from '../../../i18n/language';
import { Icon } from '../../../shared/icons';
import { to } from '../../../shared/routes';
import { uploadQueue } from '../uploads/upload-queue';
import type { Dialog } from './file-dialog';

interface Props {
  partition: string;
  file: string;
  editable: boolean;
  onOpen: (dialog: Dialog) => void;
  onDelete: () => void;
}

const BUTTON = { variant: 'subtle', color: 'gray' } as const;

function FileMenu({ partition, file, editable, onOpen, onDelete }: Props) {
  const { documents: t, common } = useMessages();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t.replaceWith(file)}
        onChange={(event) => {
          uploadQueue.add(partition, [...(event.currentTarget.files ?? [])], { fileId: file, replace: true });
          event.currentTarget.value = '';
        }}
      />
      <Menu position="bottom-end" width={260} defaultOpened>
        <Menu.Target>
          <ActionIcon {...BUTTON} aria-label={`${common.actions}${common.colon}${file}`}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component={Link} href={to.file(partition, file)}>
            {t.read}
          </Menu.Item>
          {editable && (
            <>
              <Menu.Item onClick={() => onOpen('metadata')}>{t.metadata}</Menu.Item>
              <Menu.Item onClick={() => input.current?.click()}>{t.replace}</Menu.Item>
              <Menu.Item onClick={() => onOpen('move')}>{t.moveOrCopy}</Menu.Item>
              <Menu.Item onClick={() => onOpen('workspaces')}>{t.workspaces}</Menu.Item>
              <Menu.Divider />
              <Menu.Item color="red" onClick={onDelete}>
                {common.delete}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

/** The menu of a file, made when it is first opened: a list scrolls past thousands of them. */
export function FileActions(props: Props) {
  const { common } = useMessages();
  const [opened, setOpened] = useState(false);
  if (opened) return <FileMenu {...props} />;
  return (
    <ActionIcon
      {...BUTTON}
      aria-label={`${common.actions}${common.colon}${props.file}`}
      aria-haspopup="menu"
      onClick={() => setOpened(true)}
    >
      <Icon name="more" />
    </ActionIcon>
  );
}
