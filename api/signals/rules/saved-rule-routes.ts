import type Koa from 'koa';
import { parseRuleFile } from '../../../activities/signals/rules/parse-rule-file.js';
import { AppError } from '../../../schemas/app-error.js';
import { SAVED_RULE_LIMITS } from '../../../schemas/signals/saved-rules.js';
import type { SavedRuleSet } from '../../../schemas/signals/saved-rules.js';
import {
  CheckedRule,
  CheckRule,
  RollBackRules,
  SavedRulesBody,
  SavedRulesParams,
  SavedRuleVersions,
  SaveRules,
} from '../../../schemas/signals/saved-rules-api.js';
import { json, route } from '../../http/route.js';
import type { Answer, Route } from '../../http/route.js';
import { reportFailure } from '../management/report-failure.js';
import type { ProxyDeps } from '../proxy-deps.js';

const SAVED = '/api/filters/saved';
const tag = 'Proxy management';
const reading = { key: 'dashboard', scope: 'read' } as const;
const writing = { key: 'dashboard', scope: 'write' } as const;

const NEVER_SAVED = { version: 0, savedAt: null, savedBy: null, note: null, texts: [] };

function present(set: SavedRuleSet | null): Answer {
  const { texts, savedAt, ...head } = set ?? NEVER_SAVED;
  return {
    ...json(200, {
      ...head,
      savedAt: savedAt?.toISOString() ?? null,
      rules: texts.map((text) => ({ text })),
    }),
    headers: { ETag: `"${head.version}"` },
  };
}

/** The version that a change follows. @throws AppError PRECONDITION_REQUIRED, PRECONDITION_FAILED */
function versionOf(ctx: Koa.Context): number {
  const given = ctx.get('If-Match').trim();
  if (given === '') throw new AppError('PRECONDITION_REQUIRED');
  const [, version] = /^"(\d{1,9})"$/.exec(given) ?? [];
  if (version === undefined) throw new AppError('PRECONDITION_FAILED');
  return Number(version);
}

/** Every text must be a rule, and no two of one name. @throws AppError BAD_REQUEST with the place of each fault */
function requireRules(texts: readonly string[]): void {
  const read = texts.map((text) => parseRuleFile(text, { strict: true }));
  const names = read.map(({ rule }) => rule?.name);
  const faults = read.flatMap(({ rule, problems }, index) => {
    if (rule === null) return problems.map((problem) => `rule ${index + 1}, ${problem}`);
    const twice = names.indexOf(rule.name) < index;
    return twice ? [`rule ${index + 1}: another one is named ${JSON.stringify(rule.name)}`] : [];
  });
  const total = texts.reduce((sum, { length }) => sum + length, 0);
  if (total > SAVED_RULE_LIMITS.total)
    faults.push(`the rules have more than ${SAVED_RULE_LIMITS.total} characters together`);
  if (faults.length > 0) throw new AppError('BAD_REQUEST', faults.join('; '));
}

/** Rules that are saved here instead of in a file; they count on every gateway within seconds. */
export function savedRuleRoutes({
  savedRules: store,
  rules,
  now,
}: Pick<ProxyDeps, 'savedRules' | 'rules' | 'now'>): Route[] {
  const find = (version?: number) => reportFailure('Failed to get the saved rules', () => store.get(version));

  const save = async (koa: Koa.Context, texts: string[], note: string | null): Promise<Answer> => {
    const after = versionOf(koa);
    requireRules(texts);
    const savedBy = String(koa.state['key'] ?? '');
    const saved = await reportFailure('Failed to save the rules', () =>
      store.save({ texts, note, savedBy, savedAt: now() }, { after, keep: SAVED_RULE_LIMITS.versions }),
    );
    if (saved === null) throw new AppError('PRECONDITION_FAILED');
    // Here at once; the other gateways look for themselves.
    await rules.reload();
    return present(saved);
  };

  return [
    route({
      method: 'get',
      path: SAVED,
      summary: 'The saved rules, with their version as ETag; those of files are not among them',
      tag,
      auth: reading,
      responses: { 200: { description: 'Rules', schema: SavedRulesBody } },
      errors: ['UNEXPECTED_ERROR'],
      handle: async () => present(await find()),
    }),
    route({
      method: 'put',
      path: SAVED,
      summary: 'Save rules, all at once; `If-Match` names the version that the change follows',
      tag,
      auth: writing,
      request: { body: SaveRules },
      responses: { 200: { description: 'In force', schema: SavedRulesBody } },
      errors: ['BAD_REQUEST', 'PRECONDITION_FAILED', 'PRECONDITION_REQUIRED', 'UNEXPECTED_ERROR'],
      handle: ({ koa }, { body }) =>
        save(
          koa,
          body.rules.map(({ text }) => text),
          body.note ?? null,
        ),
    }),
    route({
      method: 'get',
      path: `${SAVED}/versions`,
      summary: 'The versions of the saved rules: when they were saved, by whose key, what for',
      tag,
      auth: reading,
      responses: { 200: { description: 'The newest hundred', schema: SavedRuleVersions } },
      errors: ['UNEXPECTED_ERROR'],
      async handle() {
        const heads = await reportFailure('Failed to get the saved rules', () =>
          store.list(SAVED_RULE_LIMITS.versions),
        );
        return json(200, {
          versions: heads.map(({ savedAt, ...head }) => ({ ...head, savedAt: savedAt.toISOString() })),
        });
      },
    }),
    route({
      method: 'get',
      path: `${SAVED}/versions/{version}`,
      summary: 'The rules of a version',
      tag,
      auth: reading,
      request: { params: SavedRulesParams },
      responses: { 200: { description: 'Rules', schema: SavedRulesBody } },
      errors: ['BAD_REQUEST', 'NOT_FOUND', 'UNEXPECTED_ERROR'],
      async handle(_ctx, { params }) {
        return present(required(await find(params.version), params.version));
      },
    }),
    route({
      method: 'post',
      path: `${SAVED}/rollback`,
      summary: 'Save the rules of an earlier version once more, as a new one; with `If-Match`',
      tag,
      auth: writing,
      request: { body: RollBackRules },
      responses: { 200: { description: 'In force', schema: SavedRulesBody } },
      errors: [
        'BAD_REQUEST',
        'NOT_FOUND',
        'PRECONDITION_FAILED',
        'PRECONDITION_REQUIRED',
        'UNEXPECTED_ERROR',
      ],
      async handle({ koa }, { body: { version, note } }) {
        const { texts } = required(await find(version), version);
        return save(koa, texts, note ?? `As version ${version}`);
      },
    }),
    route({
      method: 'post',
      path: '/api/filters/check',
      summary: 'Checks the text of a rule; nothing changes',
      tag,
      auth: reading,
      request: { body: CheckRule },
      responses: { 200: { description: 'What is wrong with it', schema: CheckedRule } },
      errors: ['BAD_REQUEST'],
      handle(_ctx, { body }) {
        const { rule, problems } = parseRuleFile(body.text, { strict: true });
        if (rule === null) return json(200, { rule: null, problems });
        const { name, enabled, watchers, filter } = rule;
        const replaced = rules.current().ofFiles.find((other) => other.name === name);
        const replaces = replaced === undefined ? null : (replaced.file ?? 'CONFIG_PATH');
        return json(200, { rule: { name, enabled, watchers, filter, replaces }, problems });
      },
    }),
  ];
}

function required(set: SavedRuleSet | null, version: number): SavedRuleSet {
  if (set === null || version === 0) throw new AppError('NOT_FOUND', `There is no version ${version}`);
  return set;
}
