import { Alert, Button, Center, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useEffect } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { ApiError } from '../../api/api-error';
import { useSignIn } from '../../api/session';
import { useMessages } from '../../i18n/language';
import { useErrorText } from '../../shared/error-text';

/** Only ways within the console: an address elsewhere in `next` would lead a person astray. */
function safeNext(next: string | null): string {
  return next !== null && next.startsWith('/') && !/^\/[/\\]/.test(next) ? next : '/';
}

export function SignInPage() {
  const { common: t } = useMessages();
  const errorText = useErrorText();
  const [query] = useSearchParams();
  const [, navigate] = useLocation();
  const signIn = useSignIn();
  const adding = query.get('add') !== null;
  const form = useForm({
    initialValues: { token: '' },
    validate: { token: (value) => (value.trim() === '' ? t.tokenNeeded : null) },
  });
  useEffect(() => {
    document.title = `${t.signIn} · Tamis`;
  }, [t]);
  const submit = form.onSubmit(({ token }) =>
    signIn.mutate(token.trim(), {
      onSuccess: () => navigate(safeNext(query.get('next')), { replace: true }),
    }),
  );
  const refused = signIn.error instanceof ApiError && [401, 403].includes(signIn.error.status);
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder shadow="sm" p="xl" w="100%" maw={440}>
        <form onSubmit={submit}>
          <Stack>
            <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width={48} height={48} />
            <Title order={1} size="h3">
              {adding ? t.addTitle : t.signInTitle}
            </Title>
            <Text c="dimmed" size="sm">
              {adding ? t.addHint : t.signInHint}
            </Text>
            <PasswordInput
              label={t.token}
              autoComplete="current-password"
              data-autofocus
              autoFocus
              {...form.getInputProps('token')}
            />
            {signIn.isError && (
              <Alert color="red" variant="outline" role="alert">
                {refused ? t.tokenRefused : errorText(signIn.error)}
              </Alert>
            )}
            <Button type="submit" loading={signIn.isPending}>
              {adding ? t.add : t.signIn}
            </Button>
            {adding && (
              <Button variant="default" onClick={() => window.history.back()}>
                {t.cancel}
              </Button>
            )}
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
