import { Anchor, Group, Loader, Text, TextInput } from '@mantine/core';
import { useDeferredValue, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { to } from '../../../shared/routes';
import { Time } from '../../../shared/time';
import { VirtualTable } from '../../../shared/virtual-table';
import type { Column, Sort } from '../../../shared/virtual-table';
import { textOf } from '../queries';
import type { FileRow } from '../queries';
import { arrange, keepsOrder } from './arrange-files';
import { ChoiceBox } from './choice-box';
import { ChosenBar } from './chosen-bar';
import { FileActions } from './file-actions';
import { FileDialog } from './file-dialog';
import type { Dialog } from './file-dialog';
import { useChosenFiles } from './use-chosen-files';

interface Props {
  partition: string;
  rows: readonly FileRow[];
  /** How many there are, while they come in. */
  expected: number;
  hidden: ReadonlySet<string>;
  editable: boolean;
  onDelete: (file: string) => void;
}

/** The ids of the rows that are in one set, and not in the other. */
function idsIn(rows: readonly FileRow[], ids: ReadonlySet<string>, but?: ReadonlySet<string>): string[] {
  if (ids.size === 0) return [];
  return rows.map(({ file_id: id }) => id).filter((id) => ids.has(id) && but?.has(id) !== true);
}

export function FilesTable({ partition, rows, expected, hidden, editable, onDelete }: Props) {
  const { documents: t, common } = useMessages();
  const format = useFormat();
  const [filter, setFilter] = useState('');
  const [sort, setSort] = useState<Sort>({ key: 'file', descending: false });
  const [dialog, setDialog] = useState<{ kind: Dialog; row: FileRow } | null>(null);
  const wanted = useDeferredValue(filter);
  const { chosen, deleting, ...choice } = useChosenFiles(partition);
  const leaving = deleting?.files;
  const left = useMemo(() => {
    const out = new Set([...hidden, ...(leaving ?? [])]);
    return out.size === 0 ? rows : rows.filter(({ file_id: id }) => !out.has(id));
  }, [rows, hidden, leaving]);
  const shown = useMemo(() => arrange(left, wanted, sort), [left, wanted, sort]);
  const all = Math.max(left.length, expected);
  const ids = useMemo(() => shown.map(({ file_id: id }) => id), [shown]);
  const chosenIds = useMemo(() => idsIn(left, chosen), [left, chosen]);
  const seen = useMemo(() => idsIn(shown, chosen).length, [shown, chosen]);
  const total = wanted.trim() === '' ? all : shown.length;
  const choices: Column<FileRow> = {
    key: 'chosen',
    header: t.chosenFiles,
    head: (
      <ChoiceBox
        label={t.chooseAll}
        checked={seen === ids.length}
        partly={seen > 0 && seen < ids.length}
        onChange={(into) => choice.set(into ? [...chosenIds, ...ids] : idsIn(left, chosen, new Set(ids)))}
      />
    ),
    width: '24px',
    cell: ({ file_id: id }) => (
      <ChoiceBox
        label={t.chooseFile(id)}
        checked={chosen.has(id)}
        onChange={(into, range) => choice.choose(ids, id, { into, range })}
      />
    ),
  };
  const columns: Column<FileRow>[] = [
    ...(editable ? [choices] : []),
    {
      key: 'file',
      header: t.file,
      width: 'minmax(220px, 3fr)',
      sortable: true,
      cell: ({ file_id: id, original_filename: name }) => (
        <Anchor component={Link} href={to.file(partition, id)} size="sm" title={id}>
          {textOf(name) || id}
        </Anchor>
      ),
    },
    {
      key: 'size',
      header: t.size,
      width: '100px',
      sortable: true,
      cell: (row) => t.fileSize(textOf(row['file_size'])),
    },
    {
      key: 'indexed',
      header: t.indexed,
      width: '170px',
      sortable: true,
      cell: (row) => <Time at={row.indexed_at} />,
    },
    {
      key: 'actions',
      header: common.actions,
      width: '64px',
      cell: (row) => (
        <FileActions
          partition={partition}
          file={row.file_id}
          editable={editable}
          onOpen={(kind) => setDialog({ kind, row })}
          onDelete={() => onDelete(row.file_id)}
        />
      ),
    },
  ];
  return (
    <>
      <Group justify="space-between">
        <TextInput
          aria-label={t.filterFiles}
          placeholder={t.filterFiles}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
          w={{ base: '100%', sm: 360 }}
        />
        <Text size="sm" c="dimmed" aria-live="polite">
          {t.shown(format.number(shown.length), format.number(all))}
          {keepsOrder(left, sort) && ` · ${t.byCharacters}`}
          {left.length < all && <Loader size="xs" ml="xs" aria-label={common.loading} />}
        </Text>
      </Group>
      <ChosenBar
        {...{ partition, deleting, files: chosenIds, unseen: chosenIds.length - seen }}
        onDelete={() => choice.remove(chosenIds)}
        onClear={() => choice.set([])}
      />
      {shown.length === 0 ? (
        <Empty title={t.noMatch} />
      ) : (
        <VirtualTable
          {...{ label: t.files, rows: shown, total, columns, sort, onSort: setSort, minWidth: 650 }}
          rowKey={({ file_id: id }) => id}
        />
      )}
      {dialog !== null && <FileDialog {...{ partition, ...dialog }} onClose={() => setDialog(null)} />}
    </>
  );
}
