import { Button } from '@mantine/core';
import type { ButtonProps } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useEffect, useState } from 'react';
import { useMessages } from '../i18n/language';
import { copyToClipboard } from './copy-to-clipboard';

const SAID_MS = 1_000;

/** A button that copies a text, and says whether it did. */
export function CopyText({ text, ...button }: { text: string } & ButtonProps) {
  const { common: t } = useMessages();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    const done = await copyToClipboard(text);
    setCopied(done);
    if (!done) notifications.show({ color: 'red', message: t.notCopied });
  };
  return (
    <Button variant="default" {...button} onClick={() => void copy()}>
      {copied ? t.copied : t.copy}
    </Button>
  );
}
