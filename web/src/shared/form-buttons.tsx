import { Button, Group } from '@mantine/core';
import { useMessages } from '../i18n/language';

/** The end of a form in a dialog: to leave it, or to send it. */
export function FormButtons({
  submit,
  pending,
  onCancel,
}: {
  /** What sending does, as the button says it. */
  submit: string;
  pending: boolean;
  onCancel: () => void;
}) {
  const { common } = useMessages();
  return (
    <Group justify="end">
      <Button variant="default" onClick={onCancel}>
        {common.cancel}
      </Button>
      <Button type="submit" loading={pending}>
        {submit}
      </Button>
    </Group>
  );
}
