/** Addresses of the pages below the base path, and how parts that clients name go into them. */
export const to = {
  signIn: '/sign-in',
  partitions: '/partitions',
  partition: (partition: string) => `/partitions/${encodeURIComponent(partition)}`,
  file: (partition: string, file: string) =>
    `/partitions/${encodeURIComponent(partition)}/files/${encodeURIComponent(file)}`,
  settings: (partition: string) => `/partitions/${encodeURIComponent(partition)}/settings`,
  search: '/search',
  chat: '/chat',
  conversation: (id: string) => `/chat/${encodeURIComponent(id)}`,
  tasks: '/tasks',
  evaluation: (partition?: string) =>
    partition === undefined ? '/evaluation' : `/evaluation/${encodeURIComponent(partition)}`,
  evaluationRun: (partition: string, run: string) =>
    `/evaluation/${encodeURIComponent(partition)}/runs/${run}`,
  evaluationComparison: (partition: string, before: string, after: string) =>
    `/evaluation/${encodeURIComponent(partition)}/comparison/${before}/${after}`,
  feedback: (partition: string) => `/evaluation/${encodeURIComponent(partition)}/feedback`,
  signals: '/signals',
  alerts: '/signals/alerts',
  alert: (id: number) => `/signals/alerts/${id}`,
  rules: '/signals/rules',
  forwarding: '/signals/forwarding',
  state: '/state',
  backups: '/backups',
  models: '/models',
  users: '/users',
};

/** A path with those parameters that have a value. */
export function withQuery(path: string, query: Record<string, string | number | null | undefined>): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}
