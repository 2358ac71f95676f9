import { Redirect, Route, Switch } from 'wouter';
import type { Session } from '../api/session';
import { to } from '../shared/routes';
import { NotFound } from './not-found';

/** Each page is a script of its own, loaded when it is opened. */
export const Pages = ({ session }: { session: Session }) => (
  <Switch>
    <Route path="/">
      <Redirect to={session.user === null ? to.signals : to.partitions} replace />
    </Route>
    <Route>
      <NotFound />
    </Route>
  </Switch>
);
