import { Anchor, Badge, Button, Drawer, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ApiError } from '../../../api/api-error';
import { api, bodyOf } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { MarkedText } from '../../../shared/marked-text';
import { QueryView } from '../../../shared/query-view';
import { to, withQuery } from '../../../shared/routes';
import { titleOf } from './sources';
import type { KeptSource } from './sources';

export function VerifiedBadge({ verified }: { verified: boolean | null | undefined }) {
  const { ask: t } = useMessages();
  if (verified === undefined || verified === null) return null;
  return verified ? (
    <Badge variant="dot" color="green">
      {t.verified}
    </Badge>
  ) : (
    <Badge variant="dot" color="orange" title={t.unverifiedHint}>
      {t.unverified}
    </Badge>
  );
}

function Passage({ source }: { source: KeptSource }) {
  const { ask: t, documents: texts } = useMessages();
  const { partition, page, char_start: from, char_end: end } = source;
  const id = source.chunk_id ?? '';
  const extract = useQuery({
    queryKey: ['extract', id],
    queryFn: () => bodyOf(api.GET('/extract/{extract_id}', { params: { path: { extract_id: id } } })),
  });
  const range = from != null && end != null && end > from ? { from, to: end } : null;
  const href = withQuery(to.file(partition ?? '', source.file_id ?? ''), {
    extract: id,
    from: range?.from,
    to: range?.to,
  });
  if (extract.error instanceof ApiError && extract.error.status === 404) return <Text>{t.goneSource}</Text>;
  return (
    <Stack>
      <Group gap="xs">
        <Badge variant="default">{partition}</Badge>
        {page != null && <Badge variant="default">{texts.page(page)}</Badge>}
        <VerifiedBadge verified={source.verified} />
      </Group>
      {source.verified === false && (
        <Text size="sm" c="dimmed">
          {t.unverifiedHint}
        </Text>
      )}
      <QueryView query={extract}>
        {({ page_content: text }) => (
          <Text component="div" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', lineHeight: 1.6 }}>
            <MarkedText text={text} ranges={range === null ? [] : [range]} />
          </Text>
        )}
      </QueryView>
      <Button component={Link} href={href} variant="default">
        {t.openPassage}
      </Button>
    </Stack>
  );
}

function WebPage({ source }: { source: KeptSource }) {
  const url = source.url ?? '';
  return (
    <Stack>
      <Text size="sm">{source.title}</Text>
      {/^https?:\/\//.test(url) && (
        <Anchor
          href={url}
          target="_blank"
          rel="noopener noreferrer nofollow"
          style={{ overflowWrap: 'anywhere' }}
        >
          {url}
        </Anchor>
      )}
    </Stack>
  );
}

/** A source of an answer, at the sentence that it was quoted for. */
export function SourceDrawer({ opened, onClose }: { opened: KeptSource | null; onClose: () => void }) {
  const { ask: t, common } = useMessages();
  return (
    <Drawer
      opened={opened !== null}
      onClose={onClose}
      position="right"
      size="lg"
      title={opened && `${t.source(opened.number)}${common.colon}${titleOf(opened)}`}
      closeButtonProps={{ 'aria-label': common.close }}
    >
      {opened?.source_type === 'document' && <Passage source={opened} />}
      {opened?.source_type === 'web' && <WebPage source={opened} />}
    </Drawer>
  );
}
