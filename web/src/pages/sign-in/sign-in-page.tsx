import { Alert, Button, Center, Divider, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { ApiError } from '../../api/api-error';
import { useSignIn, useSignInMethods } from '../../api/session';
import { useMessages } from '../../i18n/language';
import { useErrorText } from '../../shared/error-text';
import { withQuery } from '../../shared/routes';
import { useAddressQuery } from '../../shared/use-address-query';

/** Only ways within the console: an address elsewhere in `next` would lead a person astray. */
function safeNext(next: string | null): string {
  return next !== null && next.startsWith('/') && !/^\/[/\\]/.test(next) ? next : '/';
}

/** The way to the identity provider, and what became of it when it led back here. */
function ProviderSignIn({ failed, next }: { failed: string | null; next: string }) {
  const { common: t } = useMessages();
  const target = `${import.meta.env.BASE_URL.replace(/\/$/, '')}${next}`;
  const reasons: Record<string, string> = { provider: t.providerAway, unknown: t.providerUnknown };
  return (
    <>
      {failed !== null && (
        <Alert color="red" variant="outline" role="alert">
          {reasons[failed] ?? t.providerRefused}
        </Alert>
      )}
      <Button component="a" href={withQuery('/auth/login', { next: target })}>
        {t.providerSignIn}
      </Button>
      <Divider label={t.orByToken} />
    </>
  );
}

export function SignInPage() {
  const { common: t } = useMessages();
  const errorText = useErrorText();
  const [query] = useAddressQuery();
  const [, navigate] = useLocation();
  const signIn = useSignIn();
  const adding = query.get('add') !== null;
  const byProvider = useSignInMethods().data?.oidc === true && !adding;
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
            {byProvider && <ProviderSignIn failed={query.get('failed')} next={safeNext(query.get('next'))} />}
            <PasswordInput
              label={t.token}
              autoComplete="current-password"
              data-autofocus
              autoFocus={!byProvider}
              {...form.getInputProps('token')}
            />
            {signIn.isError && (
              <Alert color="red" variant="outline" role="alert">
                {refused ? t.tokenRefused : errorText(signIn.error)}
              </Alert>
            )}
            <Button type="submit" variant={byProvider ? 'default' : 'filled'} loading={signIn.isPending}>
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
