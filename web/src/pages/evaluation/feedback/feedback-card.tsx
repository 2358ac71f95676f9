import { Badge, Group, Paper, Spoiler, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { Time } from '../../../shared/time';
import type { Feedback } from '../queries';
import { MakeQuestion } from './make-question';

interface Props {
  partition: string;
  feedback: Feedback;
}

export function FeedbackCard({ partition, feedback }: Props) {
  const { evaluation: t, common, ask } = useMessages();
  const queryClient = useQueryClient();
  const { rating, question, answer, comment, used_in: usedIn, created_at: at } = feedback;
  const remove = useMutation({
    mutationFn: () =>
      api.DELETE('/evaluation/partition/{partition}/feedback/{feedback_id}', {
        params: { path: { partition, feedback_id: feedback.feedback_id } },
      }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['evaluation', partition, 'feedback'] }),
  });
  return (
    <Paper withBorder p="md" component="article" aria-label={question}>
      <Group justify="space-between" align="start">
        <Text fw={600} style={{ overflowWrap: 'anywhere', flex: 1 }}>
          {question}
        </Text>
        <Badge variant="dot" color={rating === 'up' ? 'green' : 'red'}>
          {ask.thumbs[rating]}
        </Badge>
      </Group>
      <Spoiler maxHeight={72} showLabel={t.showAll} hideLabel={t.showLess} my="xs">
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {answer}
        </Text>
      </Spoiler>
      {comment !== null && <Text size="sm">{comment}</Text>}
      <Group justify="space-between" mt="xs">
        <Text size="sm" c="dimmed">
          {common.user(feedback.user_id)} · <Time at={at} />
          {usedIn.length > 0 && ` · ${t.usedIn(usedIn.join(', '))}`}
        </Text>
        <Group gap="xs">
          <MakeQuestion partition={partition} feedback={feedback} />
          <ConfirmButton
            label={common.delete}
            question={t.deleteFeedbackQuestion}
            onConfirm={() => remove.mutate()}
          />
        </Group>
      </Group>
    </Paper>
  );
}
