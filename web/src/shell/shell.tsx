import { AppShell, Burger, Group, ScrollArea, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Suspense } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Session } from '../api/session';
import { useMessages } from '../i18n/language';
import { useFolded } from '../shared/use-narrow';
import { ConnectionNotice } from './connection-notice';
import { NavLinks } from './nav-links';
import { PageBoundary } from './page-boundary';
import { PageLoader } from './page-loader';
import classes from './shell.module.css';
import { UserMenu } from './user-menu';

/** Header, navigation and the page in its place. */
export function Shell({ session, children }: { session: Session; children: ReactNode }) {
  const { common: t } = useMessages();
  const [opened, { toggle, close }] = useDisclosure(false);
  const folded = useFolded();
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 230, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a href="#content" className={classes['skip']}>
        {t.skipToContent}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t.menu}
              aria-expanded={opened}
            />
            <Link href="/" className={classes['brand'] ?? ''}>
              <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width={28} height={28} />
              <Text fw={700} size="lg">
                Tamis
              </Text>
            </Link>
          </Group>
          <UserMenu session={session} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={t.menu} inert={folded && !opened}>
        <ScrollArea>
          <NavLinks session={session} onChoose={close} />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} inert={folded && opened}>
        <ConnectionNotice />
        <PageBoundary>
          <Suspense fallback={<PageLoader />}>{children}</Suspense>
        </PageBoundary>
      </AppShell.Main>
    </AppShell>
  );
}
