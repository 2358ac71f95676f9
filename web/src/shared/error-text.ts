import { useCallback } from 'react';
import { ApiError } from '../api/api-error';
import type { Messages } from '../i18n/messages';
import { useLanguage } from '../i18n/language';

function hintOf(error: ApiError, t: Messages['common']): string | null {
  if (error.status === 0) return t.errorUnreachable;
  if (error.status === 403) return t.errorForbidden;
  if (error.status === 404) return t.errorNotFound;
  if (error.status === 429) return t.errorTooMany;
  if (error.status === 503) return t.errorUnavailable;
  if (error.status >= 500) return t.errorServer;
  return null;
}

/** Errors whose message names what is at fault: a field, a place in a filter, an obstacle. It is in English. */
const WITH_DETAIL: ReadonlySet<string> = new Set([
  'VALIDATION_ERROR',
  'BAD_REQUEST',
  'INVALID_FILTER',
  'CONFLICT',
  'MIGRATION_NOT_POSSIBLE',
  'MIGRATION_NOT_VERIFIED',
]);

/** What went wrong, and where it is known what to do about it. */
export function useErrorText(): (error: unknown) => string {
  const { language, messages } = useLanguage();
  const { common: t, server } = messages;
  return useCallback(
    (error: unknown) => {
      if (!(error instanceof ApiError)) return t.errorUnknown;
      const hint = hintOf(error, t);
      // A sentence without a code is in English; where ours says what to do, it says enough.
      const own = language === 'en' || hint === null || error.code !== null ? error.message : '';
      const translated = server.errors[error.code ?? ''];
      const detail = WITH_DETAIL.has(error.code ?? '') && error.message !== '' ? ` (${error.message})` : '';
      const said = translated === undefined ? own : translated + detail;
      if (said === '') return hint ?? t.errorUnknown;
      return hint === null ? said : `${said}. ${hint}`.replace('..', '.');
    },
    [language, t, server],
  );
}
