import { Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMessages } from '../../../i18n/language';
import { QueryView } from '../../../shared/query-view';
import { MigrationRow } from './migration-row';
import { migrationsQuery } from './queries';

export function Migrations() {
  const { operations: t, server } = useMessages();
  const migrations = useQuery(migrationsQuery);
  return (
    <section aria-label={t.migrations}>
      <Title order={2} size="h4">
        {t.migrations}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t.migrationsHint}
      </Text>
      <QueryView query={migrations}>
        {(list) => (
          <Stack gap="sm">
            {list.map((migration) => (
              <Paper
                key={migration.name}
                withBorder
                p="md"
                component="article"
                aria-label={server.migrations[migration.name] ?? migration.title}
              >
                <MigrationRow migration={migration} />
              </Paper>
            ))}
          </Stack>
        )}
      </QueryView>
    </section>
  );
}
