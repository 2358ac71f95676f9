import { Autocomplete, Button, Checkbox, TagsInput, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import { setsQuery } from '../queries';
import type { Feedback } from '../queries';

interface Values {
  set: string;
  relevant: string[];
  expected: string;
  notAnswerable: boolean;
}

/** What a good answer cites is right; of a bad one a person says what would have been. */
function valuesOf({ rating, sources }: Feedback): Values {
  const cited = sources.filter((source) => rating === 'up' && source.cited);
  const relevant = [...new Set(cited.map(({ file_id: file }) => file))];
  return { set: '', relevant, expected: '', notAnswerable: false };
}

function entryOf(feedbackId: string, { relevant, expected, notAnswerable }: Values) {
  const items = relevant.map((file) => ({ file_id: file, grade: 1 }));
  return {
    feedback_id: feedbackId,
    not_answerable: notAnswerable,
    ...(notAnswerable || items.length === 0 ? {} : { relevant: items }),
    ...(notAnswerable || expected === '' ? {} : { expected_answer: expected }),
  };
}

export function MakeQuestion({ partition, feedback }: { partition: string; feedback: Feedback }) {
  const { evaluation: t, common } = useMessages();
  const queryClient = useQueryClient();
  const [opened, { open, close }] = useDisclosure(false);
  const sets = useQuery(setsQuery(partition));
  const form = useForm<Values>({ initialValues: valuesOf(feedback) });
  const files = [...new Set(feedback.sources.map(({ file_id: file }) => file))];
  const add = useMutation({
    meta: { ownErrors: true },
    mutationFn: (values: Values) =>
      api.POST('/evaluation/partition/{partition}/question-sets/{set}/from-feedback', {
        params: { path: { partition, set: values.set } },
        body: { feedback: [entryOf(feedback.feedback_id, values)] },
      }),
    onSuccess: () => {
      close();
      return queryClient.invalidateQueries({ queryKey: ['evaluation', partition] });
    },
  });
  const { notAnswerable } = form.values;
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        {t.makeQuestion}
      </Button>
      <FormModal
        title={t.makeQuestion}
        opened={opened}
        onClose={close}
        onSubmit={form.onSubmit((values) => add.mutate(values))}
        submit={common.add}
        pending={add.isPending}
        error={add.error}
      >
        <Autocomplete
          label={t.set}
          data={sets.data?.map(({ name }) => name) ?? []}
          required
          data-autofocus
          {...form.getInputProps('set')}
        />
        <Checkbox label={t.isNotAnswerable} {...form.getInputProps('notAnswerable', { type: 'checkbox' })} />
        <TagsInput
          label={t.relevantFiles}
          description={t.relevantFilesHint}
          data={files}
          disabled={notAnswerable}
          {...form.getInputProps('relevant')}
        />
        <Textarea
          label={t.expectedAnswer}
          autosize
          minRows={2}
          disabled={notAnswerable}
          {...form.getInputProps('expected')}
        />
      </FormModal>
    </>
  );
}
