import { previewRule } from '../../../activities/signals/rules/preview-rule.js';
import { AppError } from '../../../schemas/app-error.js';
import { RulesBody, PreviewBody, PreviewRequest } from '../../../schemas/signals/rules-api.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { reportFailure } from '../management/report-failure.js';

/** The rules in force, and a rule tried before it is. */
export function ruleRoutes({
  alerts,
  statistics,
  rules,
}: Pick<ProxyDeps, 'alerts' | 'statistics' | 'rules'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/filters',
      summary: 'The filter rules, what each of them matched, and what could not be used',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      responses: { 200: { description: 'Rules', schema: RulesBody } },
      errors: ['UNEXPECTED_ERROR'],
      async handle() {
        const { mode, version, loadedAt, faults, rules: all } = rules.current();
        const matches = await reportFailure('Failed to get filters', () => statistics.ruleMatches());
        return json(200, {
          mode,
          version,
          loadedAt: loadedAt.toISOString(),
          rules: all.map(({ name, description, enabled, watchers, file, filter }) => ({
            name,
            description,
            enabled,
            watchers,
            file,
            filter,
            matches: matches.get(name)?.count ?? 0,
            lastMatch: matches.get(name)?.last.toISOString() ?? null,
          })),
          faults: faults.map(({ file, message }) => ({ file, message })),
        });
      },
    }),
    route({
      method: 'post',
      path: '/api/filters/preview',
      summary: 'Tries a rule on the newest stored signals; nothing changes',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      request: { body: PreviewRequest },
      responses: { 200: { description: 'What it would hold back', schema: PreviewBody } },
      errors: ['BAD_REQUEST', 'UNEXPECTED_ERROR'],
      async handle({ signal }, { body }) {
        const { samples, ...counts } = await previewRule(alerts, body, { signal }).catch((error: unknown) => {
          if (error instanceof AppError && error.code === 'BAD_REQUEST') throw error;
          throw new AppError('UNEXPECTED_ERROR', 'Failed to preview the filter', { cause: error });
        });
        return json(200, {
          ...counts,
          samples: samples.map(({ signal: stored, reason }) => ({
            id: stored.id,
            watcher: stored.watcher,
            receivedAt: stored.receivedAt.toISOString(),
            scenario: stored.fields.scenario,
            sourceValue: stored.fields.sourceValue,
            filtered: stored.filtered,
            ruleSet: stored.ruleSet,
            reason,
          })),
        });
      },
    }),
  ];
}
