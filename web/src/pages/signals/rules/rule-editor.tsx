import { Alert, List, Text, TextInput, Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ComponentProps } from 'react';
import { ApiError } from '../../../api/api-error';
import { api, bodyOf } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { ErrorNotice } from '../../../shared/error-notice';
import { FormModal } from '../../../shared/form-modal';
import { RulePreview } from './rule-preview';
import { useSaveRules } from './use-save-rules';

const CHECK_AFTER_MS = 300;

export interface Edited {
  /** Place among the saved rules; null: a new one. */
  index: number | null;
  text: string;
}

function useCheck(text: string) {
  const [settled] = useDebouncedValue(text, CHECK_AFTER_MS);
  const check = useQuery({
    queryKey: ['signals', 'rule-check', settled],
    queryFn: () => bodyOf(api.POST('/api/filters/check', { body: { text: settled } })),
    placeholderData: keepPreviousData,
  });
  return { ...check, isCurrent: settled === text && !check.isPlaceholderData && check.isSuccess };
}

function Problems({ problems, usable }: { problems: string[]; usable: boolean }) {
  const { signals: t } = useMessages();
  if (problems.length === 0) return null;
  return (
    <Alert color={usable ? 'orange' : 'red'} variant="outline" title={usable ? t.ruleNotes : t.ruleFaults}>
      <List size="sm">
        {problems.map((problem) => (
          <List.Item key={problem}>{problem}</List.Item>
        ))}
      </List>
    </Alert>
  );
}

interface Props {
  edited: Edited;
  /** All saved rules, and their version. */
  saved: { version: number; rules: { text: string }[] };
  onClose: () => void;
}

/** The text of one rule, checked while one types and tried on stored signals before it is saved. */
export function RuleEditor({ edited, saved, onClose }: Props) {
  const { signals: t, common } = useMessages();
  // What the change follows is what was there when the editor was opened.
  const [base] = useState(saved);
  const [text, setText] = useState(edited.text);
  const [note, setNote] = useState('');
  const check = useCheck(text);
  const { save } = useSaveRules(onClose);
  const rule = check.data?.rule ?? null;
  const changed = save.error instanceof ApiError && save.error.status === 412;
  const submit: ComponentProps<typeof FormModal>['onSubmit'] = (event) => {
    event.preventDefault();
    const texts = base.rules.map((one) => one.text);
    if (edited.index === null) texts.push(text);
    else texts[edited.index] = text;
    save.mutate({ version: base.version, texts, note: note.trim() || null });
  };
  return (
    <FormModal
      title={edited.index === null ? t.newRule : t.editRule}
      opened
      onClose={onClose}
      onSubmit={submit}
      submit={common.save}
      pending={save.isPending}
      error={changed ? null : save.error}
      disabled={!check.isCurrent || rule === null}
      size="xl"
    >
      <Textarea
        label={t.ruleText}
        description={t.ruleTextHint}
        autosize
        minRows={8}
        maxRows={24}
        spellCheck={false}
        data-autofocus
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <div aria-live="polite">
        <Problems problems={check.data?.problems ?? []} usable={rule !== null} />
        {check.isError && <ErrorNotice error={check.error} retry={() => void check.refetch()} />}
        {rule !== null && rule.replaces !== null && <Text size="sm">{t.ruleReplaces(rule.replaces)}</Text>}
      </div>
      {rule !== null && <RulePreview filter={rule.filter} watchers={rule.watchers} />}
      <TextInput
        label={t.ruleNote}
        value={note}
        maxLength={200}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      {changed && (
        <Alert color="red" variant="outline" role="alert">
          {t.rulesChanged}
        </Alert>
      )}
    </FormModal>
  );
}
