import { Button, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { useErrorText } from '../../../shared/error-text';
import { FormModal } from '../../../shared/form-modal';
import { to } from '../../../shared/routes';

export function NewPartition() {
  const { documents: t, common } = useMessages();
  const errorText = useErrorText();
  const [opened, { open, close }] = useDisclosure(false);
  const [, navigate] = useLocation();
  const queryClient = useQueryClient();
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (/^[A-Za-z0-9._:-]+$/.test(name.trim()) ? null : t.partitionNameBad) },
  });
  const create = useMutation({
    meta: { ownErrors: true },
    mutationFn: (partition: string) =>
      api.POST('/partition/{partition}', { params: { path: { partition } } }),
    onSuccess: async (_answer, partition) => {
      await queryClient.invalidateQueries({ queryKey: ['partitions'] });
      close();
      navigate(to.partition(partition));
    },
    onError: (error) => form.setFieldError('name', errorText(error)),
  });
  return (
    <>
      <Button onClick={open}>{t.newPartition}</Button>
      <FormModal
        title={t.newPartition}
        opened={opened}
        onClose={close}
        onSubmit={form.onSubmit(({ name }) => create.mutate(name.trim()))}
        submit={common.create}
        pending={create.isPending}
      >
        <TextInput
          label={t.partitionName}
          description={t.partitionNameHint}
          data-autofocus
          {...form.getInputProps('name')}
        />
      </FormModal>
    </>
  );
}
