import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../../api/session';
import { useMessages } from '../../../i18n/language';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { Metrics } from './metrics';
import { Migrations } from './migrations';
import { readyQuery } from './queries';
import { Readiness } from './readiness';
import { Schedules } from './schedules';
import { Swaps } from './swaps';

function StatePage() {
  const { operations: t } = useMessages();
  const ready = useQuery(readyQuery);
  const admin = useSession().data?.user?.is_admin === true;
  return (
    <Page title={t.state} hint={t.stateHint}>
      <QueryView query={ready}>{(data) => <Readiness ready={data} />}</QueryView>
      {admin && (
        <>
          <Metrics />
          <Migrations />
          <Swaps />
          <Schedules />
        </>
      )}
    </Page>
  );
}

export default StatePage;
