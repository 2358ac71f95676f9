import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { Facts } from '../../../shared/facts';
import { Time } from '../../../shared/time';
import type { Alert } from '../queries';

function joined(...parts: (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(', ');
}

export function AlertFacts({ alert }: { alert: Alert }) {
  const { signals: t } = useMessages();
  const format = useFormat();
  const { geoCountryCode: code, geoCity, geoRegion, startAt, stopAt, forwardedAt } = alert;
  const number = alert.sourceAsNumber === null ? null : `AS${alert.sourceAsNumber}`;
  return (
    <Facts
      label={t.source}
      facts={[
        [t.address, alert.sourceValue ?? alert.sourceIp],
        [t.scope, alert.sourceScope],
        [t.network, joined(number, alert.sourceAsName, alert.sourceRange)],
        [t.place, joined(geoCity, geoRegion, code === null ? null : format.country(code))],
        [t.message, alert.message],
        [t.machine, alert.machineId],
        [t.received, <Time key="received" at={alert.receivedAt} />],
        [t.started, startAt !== null && <Time at={startAt} />],
        [t.stopped, stopAt !== null && <Time at={stopAt} />],
        [t.forwardedAt, forwardedAt !== null && <Time at={forwardedAt} />],
      ]}
    />
  );
}
