import type { FuzzRun } from './run-schemathesis.js';

/** What CAPI answers is not ours to document. */
const EXCLUDED = '^/(v[23]/|v1/usage-metrics)';
const DOCUMENTS = '^/(?!api/|health/|health$)';

type Surface = Pick<FuzzRun, 'header' | 'paths' | 'excluded'> & { name: string };

/** Who asks for what. The administrator comes last, since such a request may remove the others. */
export function surfacesOf(keys: { user: string; admin: string; dashboard: string }): Surface[] {
  return [
    { name: 'a user', header: `Authorization: Bearer ${keys.user}`, paths: DOCUMENTS },
    { name: 'a dashboard', header: `X-Api-Key: ${keys.dashboard}`, paths: '^/(api/|health)' },
    { name: 'an administrator', header: `Authorization: Bearer ${keys.admin}`, paths: DOCUMENTS },
  ].map((surface) => ({ ...surface, excluded: EXCLUDED }));
}
