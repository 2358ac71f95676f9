import { ActionIcon, Menu } from '@mantine/core';
import { useRef } from 'react';
import { Link } from 'wouter';
import { useMessages } from '../../../i18n/language';
import { Icon } from '../../../shared/icons';
import { to } from '../../../shared/routes';
import { uploadQueue } from '../uploads/upload-queue';

interface Props {
  partition: string;
  file: string;
  editable: boolean;
  onEdit: () => void;
  onDelete: () => void;
}

export function FileActions({ partition, file, editable, onEdit, onDelete }: Props) {
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
          uploadQueue.add(partition, [...(event.currentTarget.files ?? [])], file);
          event.currentTarget.value = '';
        }}
      />
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`${common.actions}: ${file}`}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component={Link} href={to.file(partition, file)}>
            {t.read}
          </Menu.Item>
          {editable && (
            <>
              <Menu.Item onClick={onEdit}>{t.metadata}</Menu.Item>
              <Menu.Item onClick={() => input.current?.click()}>{t.replace}</Menu.Item>
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
