import { Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { useFormat } from '../../i18n/format';
import { useMessages } from '../../i18n/language';
import { Facts } from '../../shared/facts';
import { MEASURES } from './queries';
import type { Result } from './queries';

interface Side {
  name: string;
  /** Undefined: this run did not ask the question. */
  result: Result | undefined;
}

function OneSide({ name, result }: Side) {
  const { evaluation: t } = useMessages();
  const format = useFormat();
  if (result === undefined)
    return (
      <section aria-label={name}>
        <Text fw={600}>{name}</Text>
        <Text c="dimmed">{t.notAsked}</Text>
      </section>
    );
  const { measures, found, chat, error, search_ms: ms } = result;
  return (
    <section aria-label={name}>
      <Text fw={600}>{name}</Text>
      {chat !== null && (
        <Text size="sm" my="xs" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {chat.answer}
        </Text>
      )}
      <Facts
        label={name}
        facts={[
          [t.error, error?.message],
          ...MEASURES.map((measure) => {
            const value = measures[measure];
            return [t.measures[measure], value === undefined ? null : format.score(value)] as const;
          }),
          [t.found, found.join(', ')],
          [t.cited, chat?.cited.join(', ')],
          [t.latency.search, format.seconds(ms)],
          [t.latency.chat, chat === null ? null : format.seconds(chat.ms)],
        ]}
      />
    </section>
  );
}

interface Props {
  question: string;
  /** One, or two to be read side by side. */
  sides: readonly Side[];
  onClose: () => void;
}

/** A question with what each run found and answered. */
export function QuestionModal({ question, sides, onClose }: Props) {
  const { common } = useMessages();
  return (
    <Modal
      opened
      onClose={onClose}
      title={question}
      size={sides.length > 1 ? 1100 : 'lg'}
      closeButtonProps={{ 'aria-label': common.close }}
    >
      <Stack>
        <SimpleGrid cols={{ base: 1, md: sides.length }}>
          {sides.map((side) => (
            <OneSide key={side.name} {...side} />
          ))}
        </SimpleGrid>
      </Stack>
    </Modal>
  );
}
