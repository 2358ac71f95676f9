import { Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import type { Prompt } from './queries';
import { useSaveModel } from './use-save-model';

interface Values {
  name: string;
  type: Prompt['prompt_type'];
  content: string;
  isDefault: boolean;
}

interface Props {
  /** Null: a new one. */
  prompt: Prompt | null;
  onClose: () => void;
}

async function save(
  prompt: Prompt | null,
  { name, type, content, isDefault }: Values,
): Promise<readonly string[]> {
  if (prompt === null) {
    const body = { prompt_type: type, name, content, is_default: isDefault };
    await api.POST('/prompts/', { body });
    return [];
  }
  // The default of a kind stays it until another one is made so.
  const body = { name, content, ...(isDefault ? { is_default: true } : {}) };
  await api.PATCH('/prompts/{id}', { params: { path: { id: prompt.id } }, body });
  return [];
}

export function PromptEditor({ prompt, onClose }: Props) {
  const { operations: t, common } = useMessages();
  const form = useForm<Values>({
    initialValues: {
      name: prompt?.name ?? '',
      type: prompt?.prompt_type ?? 'sys_prompt',
      content: prompt?.content ?? '',
      isDefault: prompt?.is_default ?? false,
    },
  });
  const change = useSaveModel((values: Values) => save(prompt, values), onClose);
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
