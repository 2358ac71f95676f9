import { Accordion, List, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { fileQuery } from '../queries';

/** How the file was read, for files that say so. */
export function ParseReport({ partition, file }: { partition: string; file: string }) {
  const { documents: t } = useMessages();
  const format = useFormat();
  const { data } = useQuery(fileQuery(partition, file));
  const report = data?.parse_report;
  if (report === undefined) return null;
  const figures: [string, string][] = [
    [t.parser, report.parser_version === null ? report.parser : `${report.parser} ${report.parser_version}`],
    ...(report.pages === null ? [] : [[t.pages, format.number(report.pages)] as [string, string]]),
    [t.pagesByOcr, format.number(report.pages_by_ocr)],
    [t.characters, format.number(report.characters)],
    [t.tables, format.number(report.tables)],
  ];
  const warnings = [...report.reasons, ...report.warnings];
  return (
    <Accordion variant="contained" defaultValue={report.degraded ? 'report' : null}>
      <Accordion.Item value="report">
        <Accordion.Control>{t.parseReport}</Accordion.Control>
        <Accordion.Panel>
          <SimpleGrid cols={{ base: 2, md: 5 }}>
            {figures.map(([label, value]) => (
              <div key={label}>
                <Text size="sm" c="dimmed">
                  {label}
                </Text>
                <Text>{value}</Text>
              </div>
            ))}
          </SimpleGrid>
          {warnings.length > 0 && (
            <List size="sm" mt="sm" aria-label={t.warnings}>
              {warnings.map((warning, index) => (
                <List.Item key={index}>{warning}</List.Item>
              ))}
            </List>
          )}
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}
