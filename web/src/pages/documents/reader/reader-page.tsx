import { Anchor, Button, Grid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useMessages } from '../../../i18n/language';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { to, withQuery } from '../../../shared/routes';
import { useAddressQuery } from '../../../shared/use-address-query';
import { usePathParams } from '../../../shared/use-path-params';
import { chunksQuery, textOf } from '../queries';
import { ChunkList } from './chunk-list';
import { NoExtracts } from './no-extracts';
import { PagePicture } from './page-picture';
import { ParseReport } from './parse-report';

/** A file's extracts in order. `extract`, `from` and `to` in the address mark a passage, as a citation does. */
function ReaderPage() {
  const { partition = '', file = '' } = usePathParams<{ partition: string; file: string }>();
  const { documents: t, ask } = useMessages();
  const [query] = useAddressQuery();
  const chunks = useQuery(chunksQuery(partition, file));
  const first = chunks.data?.[0]?.metadata;
  const id = textOf(first?.['_id']);
  const from = Number(query.get('from'));
  const end = Number(query.get('to'));
  const marked = { extract: query.get('extract'), range: end > from ? { from, to: end } : null };
  const [pageOf, setPageOf] = useState(marked.extract);
  const isPdf = /\.pdf$/i.test(textOf(first?.['original_filename']) || textOf(first?.['filename']));
  const shown = chunks.data?.find(({ metadata }) => isPdf && metadata['_id'] === pageOf)?.metadata;
  return (
    <Page
      title={textOf(first?.['original_filename']) || file}
      hint={
        <Anchor component={Link} href={to.partition(partition)} size="sm">
          ← {t.backToFiles} {partition}
        </Anchor>
      }
      actions={
        id !== '' && (
          <>
            <Button component={Link} href={withQuery(to.chat, { partition, file })} variant="default">
              {ask.askAboutFile}
            </Button>
            <Button component="a" href={`/static/${encodeURIComponent(id)}`} download variant="default">
              {t.original}
            </Button>
          </>
        )
      }
    >
      <Stack>
        <ParseReport partition={partition} file={file} />
        <QueryView query={chunks}>
          {(list) =>
            list.length === 0 ? (
              <NoExtracts partition={partition} file={file} />
            ) : (
              <Grid>
                <Grid.Col span={shown === undefined ? 12 : { base: 12, lg: 7 }}>
                  <ChunkList chunks={list} marked={marked} onPage={isPdf ? setPageOf : undefined} />
                </Grid.Col>
                {shown !== undefined && (
                  <Grid.Col span={{ base: 12, lg: 5 }}>
                    <PagePicture
                      extract={textOf(shown['_id'])}
                      page={Number(shown['page'])}
                      range={shown['_id'] === marked.extract ? marked.range : null}
                    />
                  </Grid.Col>
                )}
              </Grid>
            )
          }
        </QueryView>
      </Stack>
    </Page>
  );
}

export default ReaderPage;
