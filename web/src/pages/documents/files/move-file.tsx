import { SegmentedControl, Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { send } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import { mayEdit, partitionsQuery } from '../queries';

interface Place {
  partition: string;
  file: string;
}

interface Values {
  kind: 'move' | 'copy';
  target: string;
  name: string;
}

function filePath({ partition, file }: Place): string {
  return `/indexer/partition/${encodeURIComponent(partition)}/file/${encodeURIComponent(file)}`;
}

/** A move keeps the file's id; a copy may have another one, and has to within its own partition. */
function apply(from: Place, { kind, target, name }: Values): Promise<Response> {
  const body = new FormData();
  if (kind === 'move') {
    body.set('metadata', JSON.stringify({ partition: target }));
    return send(filePath(from), { method: 'PATCH', body });
  }
  body.set('source_partition', from.partition);
  body.set('source_file_id', from.file);
  return send(`${filePath({ partition: target, file: name })}/copy`, { method: 'POST', body });
}

export function MoveFile({ from, onClose }: { from: Place; onClose: () => void }) {
  const { documents: t } = useMessages();
  const queryClient = useQueryClient();
  const partitions = useQuery(partitionsQuery);
  const others = (partitions.data ?? []).filter((row) => mayEdit(row)).map((row) => row.partition);
  const form = useForm<Values>({
    initialValues: { kind: 'move', target: '', name: from.file },
    validate: {
      target: (target, { kind }) =>
        target === '' || (kind === 'move' && target === from.partition) ? t.targetNeeded : null,
      name: (name) => (/^[A-Za-z0-9._:-]+$/.test(name) ? null : t.partitionNameBad),
    },
  });
  const { kind, target } = form.values;
  const change = useMutation({
    meta: { ownErrors: true },
    mutationFn: (values: Values) => apply(from, values),
    onSuccess: (_answer, done) => {
      const said = done.kind === 'move' ? t.moved : t.copiedTo;
      notifications.show({ color: 'green', message: said(from.file, done.target) });
      onClose();
      return Promise.all(
        [['files', from.partition], ['files', done.target], ['partitions']].map((queryKey) =>
          queryClient.invalidateQueries({ queryKey }),
        ),
      );
    },
  });
  return (
    <FormModal
      title={t.moveOrCopyFile(from.file)}
      opened
      onClose={onClose}
      onSubmit={form.onSubmit((values) => change.mutate(values))}
      submit={kind === 'move' ? t.move : t.copyFile}
      pending={change.isPending}
      error={change.error}
    >
      <SegmentedControl
        aria-label={t.moveOrCopy}
        data={[
          { value: 'move', label: t.move },
          { value: 'copy', label: t.copyFile },
        ]}
        {...form.getInputProps('kind')}
      />
      <Select
        label={t.targetPartition}
        data={others.filter((name) => kind === 'copy' || name !== from.partition)}
        searchable
        allowDeselect={false}
        {...form.getInputProps('target')}
        value={target === '' ? null : target}
      />
      {kind === 'copy' && (
        <TextInput label={t.copyName} description={t.copyNameHint} {...form.getInputProps('name')} />
      )}
    </FormModal>
  );
}
