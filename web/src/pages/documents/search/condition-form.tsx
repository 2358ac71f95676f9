import { Button, Group, Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMessages } from '../../../i18n/language';
import { addCondition, SIGNS } from './add-condition';
import type { Sign } from './add-condition';

interface Values {
  name: string;
  sign: Sign;
  value: string;
}

/** Adds a condition on metadata to the filter, for who does not write expressions. */
export function ConditionForm({ filter, onChange }: { filter: string; onChange: (filter: string) => void }) {
  const { ask: t, documents } = useMessages();
  const form = useForm<Values>({
    initialValues: { name: '', sign: '==', value: '' },
    validate: {
      name: (name) => (name.trim() === '' ? t.conditionNeeded : null),
      value: (value) => (value.trim() === '' ? t.conditionNeeded : null),
    },
  });
  return (
    <form
      aria-label={t.addCondition}
      onSubmit={form.onSubmit(({ name, sign, value }) => {
        onChange(addCondition(filter, { name: name.trim(), sign, value: value.trim() }));
        form.setFieldValue('value', '');
      })}
    >
      <Group align="start" gap="xs">
        <TextInput
          aria-label={documents.metadataKey}
          placeholder={documents.metadataKey}
          w={160}
          {...form.getInputProps('name')}
        />
        <Select
          aria-label={t.comparison}
          data={SIGNS.map((sign) => ({ value: sign, label: t.signs[sign] }))}
          allowDeselect={false}
          w={150}
          {...form.getInputProps('sign')}
        />
        <TextInput
          aria-label={documents.metadataValue}
          placeholder={documents.metadataValue}
          w={160}
          {...form.getInputProps('value')}
        />
        <Button type="submit" variant="default">
          {t.addCondition}
        </Button>
      </Group>
    </form>
  );
}
