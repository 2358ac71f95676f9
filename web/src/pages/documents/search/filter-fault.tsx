import { Alert, Code, Mark, Text } from '@mantine/core';
import { ApiError } from '../../../api/api-error';
import { useMessages } from '../../../i18n/language';

export function isFilterFault(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 'INVALID_FILTER';
}

/** The filter with the place marked where reading it failed; the server counts characters from one. */
export function FilterFault({ filter, fault }: { filter: string; fault: ApiError }) {
  const { ask: t } = useMessages();
  const { position } = fault.extra;
  const at = typeof position === 'number' ? position - 1 : null;
  const points = Array.from(filter);
  return (
    <Alert color="red" variant="outline" role="alert" title={t.filter}>
      <Text size="sm">{fault.message}</Text>
      {at !== null && (
        <>
          <Text size="sm" mt="xs">
            {t.filterFault(at + 1)}
          </Text>
          <Code block tabIndex={0}>
            {points.slice(0, at).join('')}
            <Mark color="red">{points[at] ?? ' '}</Mark>
            {points.slice(at + 1).join('')}
          </Code>
        </>
      )}
    </Alert>
  );
}
