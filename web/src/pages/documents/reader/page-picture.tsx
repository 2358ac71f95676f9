import { Box, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { QueryView } from '../../../shared/query-view';
import type { TextRange } from '../../../shared/marked-text';
import classes from './page-picture.module.css';

interface Props {
  extract: string;
  page: number;
  /** The passage within the extract; null: all of it. */
  range: TextRange | null;
}

function percent(share: number): string {
  return `${share * 100}%`;
}

/** The page of a PDF that an extract stands on, with its passage marked. */
export function PagePicture({ extract, page, range }: Props) {
  const { documents: t } = useMessages();
  const marks = useQuery({
    queryKey: ['page-marks', extract, range],
    queryFn: () =>
      bodyOf(
        api.GET('/extract/{extract_id}/page/marks', {
          params: { path: { extract_id: extract }, query: range ?? {} },
        }),
      ),
    staleTime: Infinity,
  });
  return (
    <Stack gap="xs" component="section" aria-label={t.pageOf(page)}>
      <QueryView query={marks}>
        {({ width, height, marks: boxes }) => (
          <>
            <Box className={classes['page'] ?? ''} style={{ aspectRatio: `${width} / ${height}` }}>
              <img
                src={`/extract/${encodeURIComponent(extract)}/page`}
                alt={t.pageOf(page)}
                className={classes['picture']}
              />
              {boxes.map((box) => (
                <div
                  key={`${box.x} ${box.y}`}
                  className={classes['mark']}
                  style={{
                    left: percent(box.x),
                    top: percent(box.y),
                    width: percent(box.width),
                    height: percent(box.height),
                  }}
                />
              ))}
            </Box>
            {boxes.length === 0 && (
              <Text size="sm" c="dimmed">
                {t.notFoundOnPage}
              </Text>
            )}
          </>
        )}
      </QueryView>
    </Stack>
  );
}
