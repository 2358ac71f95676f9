import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';
import { useMessages } from '../../../i18n/language';

interface RuleChange {
  /** The version that it follows: another one since then is refused. */
  version: number;
  texts: string[];
  note: string | null;
}

function follows(version: number): { headers: Record<string, string> } {
  return { headers: { 'If-Match': `"${version}"` } };
}

/** Saves all rules that have no file; they are in force afterwards. */
export function useSaveRules(onSaved?: () => void) {
  const { signals: t } = useMessages();
  const queryClient = useQueryClient();
  const onSuccess = () => {
    notifications.show({ color: 'green', message: t.rulesSaved });
    onSaved?.();
  };
  // After a refusal too: others have saved meanwhile, and the next change has to follow what they left.
  const onSettled = () => queryClient.invalidateQueries({ queryKey: ['signals', 'rules'] });
  const save = useMutation({
    meta: { ownErrors: true },
    mutationFn: ({ version, texts, note }: RuleChange) =>
      bodyOf(
        api.PUT('/api/filters/saved', {
          ...follows(version),
          body: { rules: texts.map((text) => ({ text })), note },
        }),
      ),
    onSuccess,
    onSettled,
  });
  const rollBack = useMutation({
    mutationFn: ({ version, to }: { version: number; to: number }) =>
      bodyOf(api.POST('/api/filters/saved/rollback', { ...follows(version), body: { version: to } })),
    onSuccess,
    onSettled,
  });
  return { save, rollBack };
}
