import { Button, Group, Modal, Stack } from '@mantine/core';
import type { ModalProps } from '@mantine/core';
import { useState } from 'react';
import type { ComponentProps, ReactNode } from 'react';
import { useMessages } from '../i18n/language';
import { ErrorNotice } from './error-notice';

interface Props {
  title: string;
  opened: boolean;
  onClose: () => void;
  onSubmit: NonNullable<ComponentProps<'form'>['onSubmit']>;
  /** What sending does, as the button says it. */
  submit: string;
  pending: boolean;
  /** Why the last attempt failed; it is said above the buttons. */
  error?: unknown;
  /** The form cannot be sent as it is. */
  disabled?: boolean;
  /** Buttons of its own, before those that leave and send. */
  extra?: ReactNode;
  size?: ModalProps['size'];
  children: ReactNode;
}

/**
 * A form in a dialog: its title, its fields, what went wrong, and buttons to leave and to send it. Once something was
 * typed, its buttons alone close it: Escape is also meant for the browser's own boxes, and a click beside it is a slip.
 */
export function FormModal(props: Props) {
  const { title, opened, onClose, onSubmit, submit, pending, error = null, size = 'md', children } = props;
  const { common: t } = useMessages();
  const [isTyped, setTyped] = useState(false);
  // Some forms stay while their dialog is closed.
  if (isTyped && !opened) setTyped(false);
  return (
    <Modal
      {...{ title, opened, onClose, size }}
      closeOnEscape={!isTyped}
      closeOnClickOutside={!isTyped}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <form onSubmit={onSubmit} onChange={() => setTyped(true)}>
        <Stack>
          {children}
          {error !== null && <ErrorNotice error={error} />}
          <Group justify="end" gap="sm">
            {props.extra}
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={pending} disabled={props.disabled === true}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
