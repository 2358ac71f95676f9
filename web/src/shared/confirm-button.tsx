import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import type { ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useMessages } from '../i18n/language';

interface Props extends ButtonProps {
  /** On the button, and as the title of the question. */
  label: string;
  question: ReactNode;
  /** A reason that the server wants to know; asked for where this is its label. */
  reasonLabel?: string;
  onConfirm: (reason: string) => void;
}

/** Asks before something is lost. */
export function ConfirmButton({ label, question, reasonLabel, onConfirm, ...button }: Props) {
  const { common: t } = useMessages();
  const [opened, { open, close }] = useDisclosure(false);
  const [reason, setReason] = useState('');
  const confirm = () => {
    // The button stays in reach while the question fades: the second click of a double click is none.
    if (!opened) return;
    close();
    onConfirm(reason.trim());
  };
  return (
    <>
      <Button variant="default" size="xs" {...button} onClick={open}>
        {label}
      </Button>
      <Modal opened={opened} onClose={close} title={label} closeButtonProps={{ 'aria-label': t.close }}>
        <Stack>
          <Text component="div" size="sm">
            {question}
          </Text>
          {reasonLabel !== undefined && (
            <TextInput
              label={reasonLabel}
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value)}
              maxLength={500}
              required
            />
          )}
          <Group justify="end">
            <Button variant="default" onClick={close}>
              {t.cancel}
            </Button>
            <Button
              color="red"
              onClick={confirm}
              disabled={reasonLabel !== undefined && reason.trim() === ''}
            >
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
