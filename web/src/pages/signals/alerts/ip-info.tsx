import { Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { Facts } from '../../../shared/facts';
import { QueryView } from '../../../shared/query-view';

const WHOIS = ['netName', 'netRange', 'cidr', 'organization', 'country', 'descr', 'abuse'] as const;

/** Names and holder of an address, asked for on demand: the question leaves the gateway. */
export function IpInfo({ address }: { address: string }) {
  const { signals: t } = useMessages();
  const [wanted, setWanted] = useState(false);
  const info = useQuery({
    queryKey: ['signals', 'ip-info', address],
    enabled: wanted,
    staleTime: 600_000,
    queryFn: () => bodyOf(api.GET('/api/ip-info/{ip}', { params: { path: { ip: address } } })),
  });
  if (!wanted)
    return (
      <Stack gap="xs" align="start">
        <Text size="sm">{t.ipInfoHint}</Text>
        <Button size="xs" variant="default" onClick={() => setWanted(true)}>
          {t.ipInfoAsk}
        </Button>
      </Stack>
    );
  return (
    <QueryView query={info}>
      {({ reverseDns, whois }) => (
        <Stack gap="xs">
          <Facts
            label={t.ipInfo}
            facts={[
              [t.reverseDns, reverseDns.length === 0 ? t.noReverseDns : reverseDns.join(', ')],
              ...WHOIS.map((name) => [t.whois[name], whois?.[name]] as const),
            ]}
          />
          {whois === null && <Text size="sm">{t.noWhois}</Text>}
        </Stack>
      )}
    </QueryView>
  );
}
