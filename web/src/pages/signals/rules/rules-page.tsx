import { Alert, List, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { Time } from '../../../shared/time';
import { rulesQuery } from '../queries';
import type { Rule } from '../queries';
import { RuleCard } from './rule-card';
import { ConditionPreview } from './condition-preview';
import { SavedRules } from './saved-rules';

const EXAMPLE = { field: 'source.cn', op: 'in', value: ['FR'] };

function RulesPage() {
  const { signals: t, common } = useMessages();
  const rules = useQuery(rulesQuery);
  const [condition, setCondition] = useState(() => JSON.stringify(EXAMPLE, null, 2));
  const editor = useRef<HTMLDivElement>(null);
  const [watchers, setWatchers] = useState<string[] | null>(null);
  const tryRule = ({ filter, watchers: only }: Rule) => {
    setWatchers(only);
    setCondition(JSON.stringify(filter, null, 2));
    editor.current?.scrollIntoView({ block: 'start' });
  };
  return (
    <Page title={t.rules} hint={t.rulesHint}>
      <QueryView query={rules}>
        {({ mode, loadedAt, rules: list, faults }) => (
          <Stack>
            <Text size="sm">
              {mode === 'block' ? t.modeBlock : t.modeAllow} {t.loaded} <Time at={loadedAt} />
            </Text>
            {faults.length > 0 && (
              <Alert color="red" variant="outline" title={t.faults} role="alert">
                <List size="sm">
                  {faults.map(({ file, message }) => (
                    <List.Item key={`${file} ${message}`}>
                      {file}
                      {common.colon}
                      {message}
                    </List.Item>
                  ))}
                </List>
              </Alert>
            )}
            {list.length === 0 && <Empty title={t.noRules}>{t.noRulesHint}</Empty>}
            {list.map((rule) => (
              <RuleCard key={rule.name} rule={rule} onTry={() => tryRule(rule)} />
            ))}
          </Stack>
        )}
      </QueryView>
      <SavedRules />
      <div ref={editor}>
        <Title order={2} size="h4">
          {t.preview}
        </Title>
        <Text size="sm" c="dimmed" mb="xs">
          {t.previewHint}
        </Text>
        <ConditionPreview
          condition={condition}
          onChange={setCondition}
          watchers={watchers}
          onAllWatchers={() => setWatchers(null)}
        />
      </div>
    </Page>
  );
}

export default RulesPage;
