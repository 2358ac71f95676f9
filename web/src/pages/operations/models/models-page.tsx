import { Button, Group, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMessages } from '../../../i18n/language';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { EndpointCard } from './endpoint-card';
import { NewEndpoint } from './new-endpoint';
import { PresetCard } from './preset-card';
import { PresetEditor } from './preset-editor';
import { Prompts } from './prompts';
import { endpointsQuery, presetsQuery } from './queries';

function ModelsPage() {
  const { operations: t } = useMessages();
  const endpoints = useQuery(endpointsQuery);
  const presets = useQuery(presetsQuery);
  const [newPreset, setNewPreset] = useState(false);
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
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t.presets}
        </Title>
        <Button onClick={() => setNewPreset(true)}>{t.newPreset}</Button>
      </Group>
      {newPreset && <PresetEditor preset={null} onClose={() => setNewPreset(false)} />}
      <QueryView query={presets}>
        {(list) => (
          <Stack gap="sm">
            {list.map((preset) => (
              <PresetCard key={`${preset.preset_type} ${preset.name}`} preset={preset} />
            ))}
          </Stack>
        )}
      </QueryView>
      <Prompts />
    </Page>
  );
}

export default ModelsPage;
