import { Center, Loader } from '@mantine/core';
import { Redirect, useLocation } from 'wouter';
import { useSearch } from 'wouter/use-browser-location';
import { useSession } from './api/session';
import { useMessages } from './i18n/language';
import { SignInPage } from './pages/sign-in/sign-in-page';
import { Pages } from './pages/pages';
import { ErrorNotice } from './shared/error-notice';
import { to } from './shared/routes';
import { Shell } from './shell/shell';

/** Who is not signed in is led to the sign-in page, and afterwards back to where they wanted to go. */
export function App() {
  const { common: t } = useMessages();
  const session = useSession();
  const [location] = useLocation();
  const search = useSearch();
  if (session.data === undefined)
    return (
      <Center h="100vh" p="md">
        {session.isError ? (
          <ErrorNotice error={session.error} retry={() => void session.refetch()} />
        ) : (
          <Loader aria-label={t.loading} />
        )}
      </Center>
    );
  if (location === to.signIn) return <SignInPage />;
  if (session.data === null) {
    // Encoded as it is in the address: the way back is a header, which takes no other letters.
    const here = `${location}${search}`;
    const next = here === '/' ? '' : `?next=${encodeURIComponent(here)}`;
    return <Redirect to={`${to.signIn}${next}`} replace />;
  }
  return (
    <Shell session={session.data}>
      <Pages session={session.data} />
    </Shell>
  );
}
