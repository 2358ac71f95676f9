import { Badge, Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { Empty } from '../../../shared/empty';
import { More } from '../../../shared/more';
import { QueryView } from '../../../shared/query-view';
import { PromptEditor } from './prompt-editor';
import { promptsQuery } from './queries';
import type { Prompt } from './queries';

function PromptCard({ prompt }: { prompt: Prompt }) {
  const { operations: t, common } = useMessages();
  const format = useFormat();
  const queryClient = useQueryClient();
  const [edited, setEdited] = useState(false);
  const { id, name, content, used_by: users, is_default: isDefault } = prompt;
  const remove = useMutation({
    mutationFn: () => api.DELETE('/prompts/{id}', { params: { path: { id } } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['models'] }),
  });
  return (
    <Paper withBorder p="md" component="article" aria-label={name}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600}>{name}</Text>
          <Badge variant="default">{t.promptKinds[prompt.prompt_type]}</Badge>
          {isDefault && (
            <Badge variant="dot" color="green">
              {t.isDefault}
            </Badge>
          )}
        </Group>
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            {t.promptUsed(format.number(users))}
          </Text>
          <Button size="xs" variant="default" aria-label={t.editPrompt(name)} onClick={() => setEdited(true)}>
            {t.edit}
          </Button>
          {!isDefault && users === 0 && (
            <ConfirmButton
              label={common.delete}
              aria-label={`${common.delete}${common.colon}${name}`}
              question={t.deletePromptQuestion(name)}
              onConfirm={() => remove.mutate()}
            />
          )}
        </Group>
      </Group>
      <More label={t.promptText}>
        <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap' }}>
          {content}
        </Code>
      </More>
      {edited && <PromptEditor prompt={prompt} onClose={() => setEdited(false)} />}
    </Paper>
  );
}

/** Texts that take the place of those that come with the service. */
export function Prompts() {
  const { operations: t } = useMessages();
  const prompts = useQuery(promptsQuery);
  const [isNew, setNew] = useState(false);
  return (
    <>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t.prompts}
        </Title>
        <Button onClick={() => setNew(true)}>{t.newPrompt}</Button>
      </Group>
      <QueryView query={prompts}>
        {(list) =>
          list.length === 0 ? (
            <Empty title={t.noPrompts}>{t.noPromptsHint}</Empty>
          ) : (
            <Stack gap="sm">
              {list.map((prompt) => (
                <PromptCard key={prompt.id} prompt={prompt} />
              ))}
            </Stack>
          )
        }
      </QueryView>
      {isNew && <PromptEditor prompt={null} onClose={() => setNew(false)} />}
    </>
  );
}
