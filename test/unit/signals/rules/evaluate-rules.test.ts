import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { CompiledRule, RuleMode } from '../../../../activities/signals/rules/compiled-rule.js';
import { isReplicatedSignal } from '../../../../activities/signals/reading/to-new-alert.js';
import { evaluateRules } from '../../../../activities/signals/rules/evaluate-rules.js';
import { compileForTest } from './compile-for-test.js';
import { referenceReason } from './reference-rules.js';
import type { Leaf, Tree } from './reference-rules.js';

const FIELDS = [
  'source.ip',
  'source.cn',
  'scenario',
  'decisions',
  'count',
  'simulated',
  'a.b',
  '__proto__',
  'toString',
];
const scalar = fc.constantFrom<unknown>('', 'FR', 'ssh-bf', 'a/b', '10.0.0.1', 0, 1, 5.5, true, false, null);
const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.constantFrom('10.0.0.1', '::1', '::ffff:10.0.0.1', 'x', '10.0.0.0/8'),
);

const value = fc.oneof(scalar, address, fc.array(scalar, { maxLength: 3 }), fc.constant({}), fc.integer());
const signal = fc.record(
  {
    source: fc.oneof(fc.record({ ip: address, cn: value }, { requiredKeys: [] }), value),
    scenario: value,
    decisions: value,
    count: value,
    simulated: value,
    a: fc.record({ b: value }),
  },
  { requiredKeys: [] },
);

const range = fc.oneof(
  fc.tuple(fc.ipV4(), fc.nat(32)).map(([base, bits]) => `${base}/${bits}`),
  fc.tuple(fc.ipV6(), fc.nat(128)).map(([base, bits]) => `${base}/${bits}`),
  fc.constantFrom('10.0.0.0/8', '0.0.0.0/0', '::/0', '::ffff:0:0/96', '10.0.0.1'),
);

function oneOrMore<Item>(item: fc.Arbitrary<Item>): fc.Arbitrary<Item | Item[]> {
  return fc.oneof(item, fc.array(item, { minLength: 1, maxLength: 3 }));
}

const VALUES: Record<string, fc.Arbitrary<unknown>> = {
  eq: scalar,
  ne: scalar,
  gt: fc.integer({ min: -2, max: 6 }),
  gte: fc.integer({ min: -2, max: 6 }),
  lt: fc.integer({ min: -2, max: 6 }),
  lte: fc.integer({ min: -2, max: 6 }),
  // A null in a list reads differently in the reference's text.
  in: fc.array(
    scalar.filter((entry) => entry !== null),
    { maxLength: 3 },
  ),
  not_in: fc.array(
    scalar.filter((entry) => entry !== null),
    { maxLength: 3 },
  ),
  contains: scalar,
  not_contains: scalar,
  starts_with: fc.constantFrom('', 'ssh', '10.', 'F'),
  ends_with: fc.constantFrom('', 'bf', '.1', 'R'),
  glob: oneOrMore(fc.constantFrom('*', 'ssh-*', 'a/*', '**', '?R', '1[0-9].*', '{FR,a/b}')),
  regex: oneOrMore(fc.constantFrom('^s', 'R$', '[0-9]+\\.', 'a|b', '^$', '.')),
  cidr: oneOrMore(range),
};
const leaf: fc.Arbitrary<Leaf> = fc.oneof(
  fc.record({ field: fc.constantFrom(...FIELDS), op: fc.constantFrom('empty', 'not_empty') }),
  ...Object.entries(VALUES).map(([op, arbitrary]) =>
    fc.record({ field: fc.constantFrom(...FIELDS), op: fc.constant(op), value: arbitrary }),
  ),
);
const { tree } = fc.letrec<{ tree: Tree; node: Tree }>((tie) => ({
  tree: fc.oneof({ maxDepth: 4, depthIdentifier: 'tree' }, leaf, tie('node')),
  node: fc.oneof(
    { depthIdentifier: 'tree' },
    fc.record({
      op: fc.constantFrom('and' as const, 'or' as const),
      conditions: fc.array(tie('tree'), { minLength: 1, maxLength: 4, depthIdentifier: 'tree' }),
    }),
    fc.record({ op: fc.constant('not' as const), condition: tie('tree') }),
  ),
}));

function compiled(filter: unknown, enabled = true): CompiledRule {
  const { rule, problems } = compileForTest(filter);
  if (rule === null) throw new Error(problems.join('\n'));
  return { ...rule, enabled };
}

describe('evaluating', () => {
  test('agrees with the plain reading of the language, reasons included', () => {
    fc.assert(
      fc.property(tree, signal, (filter, received) => {
        expect(compiled(filter).condition(received)).toBe(referenceReason(filter, received));
      }),
      { numRuns: 4_000 },
    );
  });

  test('all enabled rules are asked, and decide by the mode', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(tree, fc.boolean()), { maxLength: 5 }),
        fc.constantFrom<RuleMode>('block', 'allow'),
        signal,
        (rules, mode, received) => {
          const reasons = rules.flatMap(([filter, enabled]) => {
            const reason = enabled ? referenceReason(filter, received) : null;
            return reason === null ? [] : [reason];
          });
          const filtered = mode === 'block' ? reasons.length > 0 : reasons.length === 0;
          const ready = rules.map(([filter, enabled]) => compiled(filter, enabled));
          expect(evaluateRules(ready, mode, received)).toMatchObject({ filtered, reasons });
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('no rule changes the signal', () => {
    fc.assert(
      fc.property(tree, signal, (filter, received) => {
        const before = JSON.stringify(received);
        compiled(filter).condition(received);
        expect(JSON.stringify(received)).toBe(before);
      }),
      { numRuns: 500 },
    );
  });

  test('a rule that throws is skipped', () => {
    const broken: CompiledRule = {
      name: 'broken',
      description: null,
      enabled: true,
      watchers: null,
      appliesTo: () => true,
      filter: {},
      file: null,
      condition: () => {
        throw new Error('broken');
      },
    };
    const good = compiled({ field: 'decisions', op: 'empty' });
    expect(evaluateRules([broken, good], 'block', {})).toEqual({
      filtered: true,
      reasons: ['decisions is empty'],
      matched: ['test'],
    });
    expect(evaluateRules([broken], 'allow', {})).toEqual({ filtered: true, reasons: [], matched: [] });
  });
});

test.each([
  [{ decisions: [{ origin: 'crowdsec' }, { origin: 'crowdsieve-replication' }] }, true],
  [{ decisions: [{ origin: 'x/crowdsieve-replication/y' }] }, true],
  [{ decisions: [{ origin: 'crowdsieve' }] }, false],
  [{ decisions: [null, 5, {}, { origin: 7 }] }, false],
  [{ decisions: { origin: 'crowdsieve-replication' } }, false],
  [{}, false],
  [null, false],
])('the loop guard on %j: %s', (received, expected) => {
  expect(isReplicatedSignal(received)).toBe(expected);
});
