import { ActionIcon, Menu, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { Link } from 'wouter';
import { useSignOut } from '../api/session';
import type { Session } from '../api/session';
import { useLanguage } from '../i18n/language';
import { Icon } from '../shared/icons';
import { to } from '../shared/routes';

export function UserMenu({ session }: { session: Session }) {
  const { messages, language, choose } = useLanguage();
  const t = messages.common;
  const signOut = useSignOut();
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme('light') === 'dark';
  const { user } = session;
  const name = user === null ? t.managementOnly : user.name || t.user(user.id);
  return (
    <Menu position="bottom-end" width={280}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label={t.signedInAs(name)}>
          <Icon name="person" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t.signedInAs(name)}</Menu.Label>
        {user !== null && (
          <Menu.Item component={Link} href={to.account}>
            {t.account}
          </Menu.Item>
        )}
        <Menu.Item
          leftSection={<Icon name={dark ? 'sun' : 'moon'} size={16} />}
          onClick={() => setColorScheme(dark ? 'light' : 'dark')}
        >
          {dark ? t.toLight : t.toDark}
        </Menu.Item>
        <Menu.Item
          lang={language === 'en' ? 'fr' : 'en'}
          onClick={() => choose(language === 'en' ? 'fr' : 'en')}
        >
          {language === 'en' ? 'Français' : 'English'}
        </Menu.Item>
        {(user === null || !session.management) && (
          <Menu.Item component={Link} href={`${to.signIn}?add=1`}>
            {t.addAccess}
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item onClick={() => signOut.mutate(session)}>{t.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
