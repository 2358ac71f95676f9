import type { Session } from '../api/session';
import type { Messages } from '../i18n/messages';
import { to } from '../shared/routes';
import type { IconName } from '../shared/icons';

export interface Entry {
  path: string;
  label: string;
  icon: IconName;
}

export interface Section {
  label: string;
  entries: Entry[];
}

/** What this person may open; the server refuses the rest anyway. */
export function sectionsFor(session: Session, t: Messages['common']): Section[] {
  const admin = session.user?.is_admin === true;
  const documents: Entry[] = [
    { path: to.partitions, label: t.navPartitions, icon: 'folder' },
    { path: to.search, label: t.navSearch, icon: 'search' },
    { path: to.chat, label: t.navChat, icon: 'chat' },
    { path: to.evaluation(), label: t.navEvaluation, icon: 'gauge' },
    { path: to.tasks, label: t.navTasks, icon: 'tasks' },
  ];
  const signals: Entry[] = [
    { path: to.signals, label: t.navOverview, icon: 'pulse' },
    { path: to.alerts, label: t.navAlerts, icon: 'list' },
    { path: to.rules, label: t.navRules, icon: 'filter' },
    { path: to.forwarding, label: t.navForwarding, icon: 'forward' },
  ];
  const operations: Entry[] = [
    { path: to.state, label: t.navState, icon: 'state' },
    ...(admin
      ? ([
          { path: to.backups, label: t.navBackups, icon: 'archive' },
          { path: to.models, label: t.navModels, icon: 'model' },
          { path: to.users, label: t.navUsers, icon: 'users' },
        ] as const)
      : []),
  ];
  return [
    ...(session.user === null ? [] : [{ label: t.navDocuments, entries: documents }]),
    ...(session.management ? [{ label: t.navSignals, entries: signals }] : []),
    { label: t.navOperations, entries: operations },
  ];
}

/** The longest path wins, so that the overview is not marked on the pages below it. */
export function activePath(sections: readonly Section[], location: string): string | null {
  return (
    sections
      .flatMap(({ entries }) => entries.map(({ path }) => path))
      .filter((path) => location === path || location.startsWith(`${path}/`))
      .sort((one, other) => other.length - one.length)[0] ?? null
  );
}
