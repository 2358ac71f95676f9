import { Center, Loader } from '@mantine/core';
import { useMessages } from '../i18n/language';

export function PageLoader() {
  const { common: t } = useMessages();
  return (
    <Center h={240}>
      <Loader aria-label={t.loading} />
    </Center>
  );
}
