import { Checkbox, NumberInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMessages } from '../../../i18n/language';
import type { UserValues } from './change-user';

/** Creates or changes a user. */
export function useSaveUser<T>(save: (values: UserValues) => Promise<T>, onSaved: (saved: T) => void) {
  const queryClient = useQueryClient();
  return useMutation({
    meta: { ownErrors: true },
    mutationFn: save,
    onSuccess: (saved) => {
      onSaved(saved);
      return queryClient.invalidateQueries({ queryKey: ['users'] });
    },
  });
}

interface Props {
  form: UseFormReturnType<UserValues>;
  /** Whether it can be decided that the user is an administrator. */
  adminToo: boolean;
}

/** What a user has, a new one or not. */
export function UserFields({ form, adminToo }: Props) {
  const { operations: t } = useMessages();
  return (
    <>
      <TextInput label={t.displayName} required data-autofocus {...form.getInputProps('name')} />
      <TextInput label={t.email} type="email" {...form.getInputProps('email')} />
      <NumberInput
        label={t.quota}
        description={t.quotaHint}
        min={-1}
        allowDecimal={false}
        {...form.getInputProps('quota')}
      />
      {adminToo && <Checkbox label={t.admin} {...form.getInputProps('admin', { type: 'checkbox' })} />}
    </>
  );
}
