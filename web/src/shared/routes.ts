/**
 * A name as a part of a path. `:` stays, which a path may hold: ids of files in a dropped folder are full of them, and
 * the addresses are read by people.
 */
function partOf(name: string): string {
  return encodeURIComponent(name).replaceAll('%3A', ':');
}

/** The name that a part of a path stands for, also where the router has decoded some of its letters before. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Not of our making: the server says that there is no such thing.
    return part;
  }
}

/** Addresses of the pages below the base path, and how parts that clients name go into them. */
export const to = {
  signIn: '/sign-in',
  partitions: '/partitions',
  partition: (partition: string) => `/partitions/${partOf(partition)}`,
  file: (partition: string, file: string) => `/partitions/${partOf(partition)}/files/${partOf(file)}`,
  settings: (partition: string) => `/partitions/${partOf(partition)}/settings`,
  search: '/search',
  chat: '/chat',
  conversation: (id: string) => `/chat/${partOf(id)}`,
  tasks: '/tasks',
  evaluation: (partition?: string) =>
    partition === undefined ? '/evaluation' : `/evaluation/${partOf(partition)}`,
  evaluationRun: (partition: string, run: string) => `/evaluation/${partOf(partition)}/runs/${run}`,
  evaluationComparison: (partition: string, before: string, after: string) =>
    `/evaluation/${partOf(partition)}/comparison/${before}/${after}`,
  feedback: (partition: string) => `/evaluation/${partOf(partition)}/feedback`,
  signals: '/signals',
  alerts: '/signals/alerts',
  alert: (id: number) => `/signals/alerts/${id}`,
  rules: '/signals/rules',
  forwarding: '/signals/forwarding',
  state: '/state',
  backups: '/backups',
  models: '/models',
  users: '/users',
  account: '/account',
};

/** A path with those parameters that have a value. */
export function withQuery(path: string, query: Record<string, string | number | null | undefined>): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}
