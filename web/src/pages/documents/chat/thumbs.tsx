import { Button, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import type { Message } from './conversation';
import type { ChatExtra } from './stream-answer';

const RATINGS = ['up', 'down'] as const;

function chunkIdOf({ chunk }: ChatExtra['sources'][number]): string {
  return typeof chunk?.['_id'] === 'string' ? chunk['_id'] : '';
}

/** The partition that most of an answer comes from is the one whose owners read what is said of it. */
function partitionOf({ cited_sources: cited, presented_sources: presented }: ChatExtra): string | null {
  for (const { chunk } of [...cited, ...presented])
    if (typeof chunk?.['partition'] === 'string') return chunk['partition'];
  return null;
}

function bodyOf(rating: (typeof RATINGS)[number], answerId: string, { content, extra }: Message) {
  const cited = new Set(extra?.cited_sources.map(chunkIdOf));
  const sources = (extra?.presented_sources ?? [])
    .map(chunkIdOf)
    .filter((id) => id !== '')
    .map((id) => ({ chunk_id: id, cited: cited.has(id) }));
  return { answer_id: answerId, rating, answer: content.slice(0, 32_000), sources: sources.slice(0, 200) };
}

/** Whether an answer helped; the owners of its partition read it, and make questions of it. */
export function Thumbs({ message, question }: { message: Message; question: string }) {
  const { ask: t } = useMessages();
  const { answerId, extra } = message;
  const partition = extra === null ? null : partitionOf(extra);
  const say = useMutation({
    mutationFn: async (rating: (typeof RATINGS)[number]) => {
      if (partition === null || answerId === null) return rating;
      await api.POST('/evaluation/partition/{partition}/feedback', {
        params: { path: { partition } },
        body: { ...bodyOf(rating, answerId, message), question: question.slice(0, 8_000) },
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
          {rating === 'up' ? '👍' : '👎'}
        </Button>
      ))}
      <Text size="sm" c="dimmed" role="status">
        {say.data !== undefined && t.thanks}
      </Text>
    </>
  );
}
