import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import { MantineProvider } from '@mantine/core';
import { Notifications, notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useEffect, useEffectEvent, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import type { QueryClient } from '@tanstack/react-query';
import { createQueryClient } from './api/query-client';
import { App } from './app';
import { LanguageProvider, useMessages } from './i18n/language';
import { useErrorText } from './shared/error-text';
import { readableVariables, theme } from './theme';

/** Wouter wants the base without the slash at its end. */
const BASE = import.meta.env.BASE_URL.replace(/\/$/, '');

/** At once; more wait for their turn. Some hold the way to undo what was just done. */
const MAX_NOTICES = 10;

function Queries() {
  const errorText = useErrorText();
  const { common: t } = useMessages();
  const show = useEffectEvent((error: unknown) =>
    notifications.show({ color: 'red', title: t.errorTitle, message: errorText(error), autoClose: 8000 }),
  );
  const [client, setClient] = useState<QueryClient | null>(null);
  useEffect(() => setClient(createQueryClient((error) => show(error))), []);
  if (client === null) return null;
  return (
    <QueryClientProvider client={client}>
      <Router base={BASE}>
        <App />
      </Router>
    </QueryClientProvider>
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" cssVariablesResolver={readableVariables}>
      <LanguageProvider>
        <Notifications limit={MAX_NOTICES} />
        <Queries />
      </LanguageProvider>
    </MantineProvider>
  </StrictMode>,
);
