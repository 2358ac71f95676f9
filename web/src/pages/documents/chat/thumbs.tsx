import { Button, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { cutText } from '../../../shared/cut-text';
import { Icon } from '../../../shared/icons';
import type { Message } from './message';
import type { KeptSource } from './sources';

const RATINGS = ['up', 'down'] as const;

/** The partition that most of an answer comes from is the one whose owners read what is said of it. */
function partitionOf(sources: readonly KeptSource[]): string | null {
  const named = [...sources.filter(({ cited }) => cited), ...sources];
  return named.find(({ partition }) => partition != null)?.partition ?? null;
}

function bodyOf(rating: (typeof RATINGS)[number], answerId: string, { content, sources }: Message) {
  const said = sources.flatMap(({ chunk_id: id, cited }) =>
    id ? [{ chunk_id: id, cited: cited === true }] : [],
  );
  return { answer_id: answerId, rating, answer: cutText(content, 32_000), sources: said };
}

/** Whether an answer helped; the owners of its partition read it, and make questions of it. */
export function Thumbs({ message, question }: { message: Message; question: string }) {
  const { ask: t } = useMessages();
  const { answerId, sources } = message;
  const partition = partitionOf(sources);
  const say = useMutation({
    mutationFn: async (rating: (typeof RATINGS)[number]) => {
      if (partition === null || answerId === null) return rating;
      await api.POST('/evaluation/partition/{partition}/feedback', {
        params: { path: { partition } },
        body: { ...bodyOf(rating, answerId, message), question: cutText(question, 8_000) },
      });
      return rating;
    },
  });
  if (partition === null || answerId === null || answerId === '') return null;
  return (
    <>
      {RATINGS.map((rating) => (
        <Button
          key={rating}
          size="compact-sm"
          variant={say.data === rating ? 'light' : 'subtle'}
          color={say.data === rating ? 'tamis' : 'gray'}
          aria-label={t.thumbs[rating]}
          aria-pressed={say.data === rating}
          onClick={() => say.mutate(rating)}
          disabled={say.isPending}
        >
          <Icon name={rating === 'up' ? 'thumbUp' : 'thumbDown'} size={16} />
        </Button>
      ))}
      <Text size="sm" c="dimmed" role="status">
        {say.data !== undefined && t.thanks}
      </Text>
    </>
  );
}
