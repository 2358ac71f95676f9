import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { useMessages } from '../i18n/language';
import { Page } from '../shared/page';

export function NotFound() {
  const { common: t } = useMessages();
  return (
    <Page title={t.notFound}>
      <Anchor component={Link} href="/" style={{ alignSelf: 'start' }}>
        {t.toStart}
      </Anchor>
    </Page>
  );
}
