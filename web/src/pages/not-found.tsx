import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { useMessages } from '../i18n/language';
import { Empty } from '../shared/empty';

export function NotFound() {
  const { common: t } = useMessages();
  return (
    <Empty title={t.notFound}>
      <Anchor component={Link} href="/">
        {t.toStart}
      </Anchor>
    </Empty>
  );
}
