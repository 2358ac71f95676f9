import { Anchor } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../api/client';
import { useSession } from '../api/session';
import { useMessages } from '../i18n/language';

interface TemporalPlace {
  uiOrigin: string | null;
  namespace: string;
  /** In front of the ids of this installation. */
  prefix: string;
}

const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: async () => (await bodyOf(api.GET('/config')))['temporal'] as TemporalPlace,
  staleTime: Infinity,
});

/** A workflow by its whole id, or by what follows the prefix of the installation. */
type Target = { workflowId: string } | { workflow: string } | { schedule: string } | { partition: string };

function pathOf(target: Target, prefix: string): string {
  if ('workflowId' in target) return `workflows/${encodeURIComponent(target.workflowId)}`;
  if ('workflow' in target) return `workflows/${encodeURIComponent(prefix + target.workflow)}`;
  if ('schedule' in target) return `schedules/${encodeURIComponent(prefix + target.schedule)}`;
  return `workflows?query=${encodeURIComponent(`TamisPartition=${JSON.stringify(target.partition)}`)}`;
}

/** Leads an administrator to what stands behind a row in Temporal's UI, where its address is set. */
export function TemporalLink({ target, name }: { target: Target; name: string }) {
  const { common: t } = useMessages();
  const admin = useSession().data?.user?.is_admin === true;
  const { data } = useQuery({ ...configQuery, enabled: admin });
  if (!admin || data === undefined || data.uiOrigin === null) return null;
  const { uiOrigin, namespace, prefix } = data;
  return (
    <Anchor
      href={`${uiOrigin}/namespaces/${encodeURIComponent(namespace)}/${pathOf(target, prefix)}`}
      target="_blank"
      rel="noopener noreferrer"
      size="sm"
      aria-label={`${t.inTemporal}${t.colon}${name}`}
    >
      {t.inTemporal}
    </Anchor>
  );
}
