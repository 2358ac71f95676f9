/**
 * One task queue per resource profile, so that slow model calls never keep parsing waiting and the reverse.
 * `prefix` separates installations and test runs that share a Temporal namespace.
 */
export function taskQueues(prefix: string) {
  return {
    documents: `${prefix}documents`,
    models: `${prefix}models`,
    alerts: `${prefix}alerts`,
    migrations: `${prefix}migrations`,
  };
}
