import { lazy } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import type { Session } from '../api/session';
import { to } from '../shared/routes';
import { NotFound } from './not-found';

/** Each page is a script of its own, loaded when it is opened. */
const documentPages = [
  ['/partitions', lazy(() => import('./documents/partitions/partitions-page'))],
  ['/partitions/:partition', lazy(() => import('./documents/files/files-page'))],
  ['/partitions/:partition/settings', lazy(() => import('./documents/settings/settings-page'))],
  ['/partitions/:partition/files/:file', lazy(() => import('./documents/reader/reader-page'))],
  ['/search', lazy(() => import('./documents/search/search-page'))],
  ['/chat/:conversation?', lazy(() => import('./documents/chat/chat-page'))],
  ['/evaluation', lazy(() => import('./evaluation/overview/evaluation-page'))],
  ['/evaluation/:partition', lazy(() => import('./evaluation/overview/evaluation-page'))],
  ['/evaluation/:partition/runs/:run', lazy(() => import('./evaluation/run/run-page'))],
  [
    '/evaluation/:partition/comparison/:before/:after',
    lazy(() => import('./evaluation/comparison/comparison-page')),
  ],
  ['/evaluation/:partition/feedback', lazy(() => import('./evaluation/feedback/feedback-page'))],
  ['/tasks', lazy(() => import('./documents/tasks/tasks-page'))],
] as const;

const signalPages = [
  ['/signals', lazy(() => import('./signals/overview/overview-page'))],
  ['/signals/alerts', lazy(() => import('./signals/alerts/alerts-page'))],
  ['/signals/rules', lazy(() => import('./signals/rules/rules-page'))],
  ['/signals/forwarding', lazy(() => import('./signals/forwarding/forwarding-page'))],
  ['/signals/alerts/:id', lazy(() => import('./signals/alerts/alert-page'))],
] as const;

const AccountPage = lazy(() => import('./operations/account/account-page'));
const StatePage = lazy(() => import('./operations/state/state-page'));
const adminPages = [
  [to.backups, lazy(() => import('./operations/backups/backups-page'))],
  [to.models, lazy(() => import('./operations/models/models-page'))],
  [to.users, lazy(() => import('./operations/users/users-page'))],
] as const;

export function Pages({ session }: { session: Session }) {
  return (
    <Switch>
      <Route path="/">
        <Redirect to={session.user === null ? to.signals : to.partitions} replace />
      </Route>
      {session.user !== null &&
        documentPages.map(([path, Component]) => <Route key={path} path={path} component={Component} />)}
      {session.user !== null && <Route path={to.account} component={AccountPage} />}
      {session.management &&
        signalPages.map(([path, Component]) => <Route key={path} path={path} component={Component} />)}
      {session.user?.is_admin === true &&
        adminPages.map(([path, Component]) => <Route key={path} path={path} component={Component} />)}
      <Route path={to.state} component={StatePage} />
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}
