import { Alert } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { onUnreachable } from '../api/client';
import { useMessages } from '../i18n/language';

const LOOK_EVERY_MS = 3_000;

/** Shown from a call that could not reach the server until the server answers again; then everything is asked anew. */
export function ConnectionNotice() {
  const { common: t } = useMessages();
  const queryClient = useQueryClient();
  const [away, setAway] = useState(false);
  useEffect(() => onUnreachable(() => setAway(true)), []);
  useEffect(() => {
    if (!away) return;
    const timer = setInterval(() => {
      void fetch('/version')
        .then((response) => {
          if (!response.ok) return;
          setAway(false);
          return queryClient.invalidateQueries();
        })
        .catch(() => {});
    }, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [away, queryClient]);
  if (!away) return null;
  return (
    <Alert color="orange" variant="outline" mb="md" role="status">
      {t.connectionLost}
    </Alert>
  );
}
