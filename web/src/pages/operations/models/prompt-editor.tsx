import { Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import type { Prompt } from './queries';
import { savePrompt } from './save-prompt';
import type { PromptValues } from './save-prompt';
import { useSaveModel } from './use-save-model';

interface Props {
  /** Null: a new one. */
  prompt: Prompt | null;
  onClose: () => void;
}

export function PromptEditor({ prompt, onClose }: Props) {
  const { operations: t, common } = useMessages();
  const form = useForm<PromptValues>({
    initialValues: {
      name: prompt?.name ?? '',
      type: prompt?.prompt_type ?? 'sys_prompt',
      content: prompt?.content ?? '',
      isDefault: prompt?.is_default ?? false,
    },
  });
  const change = useSaveModel(
    (values: PromptValues) => savePrompt(prompt?.id ?? null, form.getInitialValues(), values),
    onClose,
  );
  const types = Object.keys(t.promptKinds) as Prompt['prompt_type'][];
  return (
    <FormModal
      title={prompt === null ? t.newPrompt : t.editPrompt(prompt.name)}
      opened
      onClose={onClose}
      onSubmit={form.onSubmit((values) => change.mutate(values))}
      submit={common.save}
      pending={change.isPending}
      error={change.error}
      size="xl"
    >
      {prompt === null && (
        <Select
          label={t.kind}
          data={types.map((value) => ({ value, label: t.promptKinds[value] }))}
          allowDeselect={false}
          {...form.getInputProps('type')}
        />
      )}
      <TextInput label={common.name} required data-autofocus {...form.getInputProps('name')} />
      <Textarea
        label={t.promptText}
        description={t.promptTextHint}
        required
        autosize
        minRows={8}
        maxRows={24}
        {...form.getInputProps('content')}
      />
      <Checkbox
        label={t.promptDefault}
        disabled={prompt?.is_default === true}
        {...form.getInputProps('isDefault', { type: 'checkbox' })}
      />
    </FormModal>
  );
}
