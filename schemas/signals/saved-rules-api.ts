import { z } from 'zod';
import { SAVED_RULE_LIMITS as LIMITS } from './saved-rules.js';

/** Bodies of the endpoints that save rules. */

const text = z.string('must be string').max(LIMITS.text, `must NOT have more than ${LIMITS.text} characters`);

const note = z
  .string('must be string')
  .trim()
  .max(LIMITS.note, `must NOT have more than ${LIMITS.note} characters`)
  .nullish()
  .meta({ description: 'What the change is for' });

export const SaveRules = z
  .strictObject({
    rules: z
      .array(z.strictObject({ text }), 'must be array')
      .max(LIMITS.rules, `must NOT have more than ${LIMITS.rules} items`)
      .meta({ description: 'All saved rules, each as the YAML of a rule file' }),
    note,
  })
  .meta({ id: 'SaveRules' });

export const RollBackRules = z
  .strictObject({ version: z.int('must be integer').min(1, 'must be >= 1'), note })
  .meta({ id: 'RollBackRules' });

export const CheckRule = z.strictObject({ text }).meta({ id: 'CheckRule' });

export const CheckedRule = z
  .object({
    rule: z
      .object({
        name: z.string(),
        enabled: z.boolean(),
        watchers: z.array(z.string()).nullable(),
        filter: z.unknown(),
        replaces: z.string().nullable().meta({
          description: 'The file (`CONFIG_PATH`: the main one) whose rule of this name it takes the place of',
        }),
      })
      .nullable()
      .meta({ description: 'null: it cannot be used' }),
    problems: z
      .array(z.string())
      .meta({ description: 'Each with its line; with a rule they are notes alone' }),
  })
  .meta({ id: 'CheckedRule' });

const head = {
  version: z.int().meta({ description: '0: nothing was ever saved' }),
  savedAt: z.string().nullable().meta({ description: 'ISO 8601 in UTC' }),
  savedBy: z.string().nullable().meta({ description: 'The name of the key' }),
  note: z.string().nullable(),
};

export const SavedRulesBody = z
  .object({ ...head, rules: z.array(z.object({ text: z.string() })) })
  .meta({ id: 'SavedRules' });

export const SavedRuleVersions = z
  .object({
    versions: z.array(z.object({ ...head, rules: z.int() })).meta({ description: 'The newest first' }),
  })
  .meta({ id: 'SavedRuleVersions' });

export const SavedRulesParams = z.object({
  version: z
    .string()
    .regex(/^\d{1,9}$/, 'must be integer')
    .transform(Number),
});
