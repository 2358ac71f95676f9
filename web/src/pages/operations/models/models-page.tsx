import { Group, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMessages } from '../../../i18n/language';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { EndpointCard } from './endpoint-card';
import { NewEndpoint } from './new-endpoint';
import { PresetCard } from './preset-card';
import { endpointsQuery, presetsQuery } from './queries';

function ModelsPage() {
  const { operations: t } = useMessages();
  const endpoints = useQuery(endpointsQuery);
  const presets = useQuery(presetsQuery);
  return (
    <Page title={t.models} hint={t.modelsHint}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t.endpoints}
        </Title>
        <NewEndpoint />
      </Group>
      <QueryView query={endpoints}>
        {(list) => (
          <Stack gap="sm">
            {list.map((endpoint) => (
              <EndpointCard key={`${endpoint.model_type} ${endpoint.name}`} endpoint={endpoint} />
            ))}
          </Stack>
        )}
      </QueryView>
      <Title order={2} size="h4">
        {t.presets}
      </Title>
      <QueryView query={presets}>
        {(list) => (
          <Stack gap="sm">
            {list.map((preset) => (
              <PresetCard key={`${preset.preset_type} ${preset.name}`} preset={preset} />
            ))}
          </Stack>
        )}
      </QueryView>
    </Page>
  );
}

export default ModelsPage;
