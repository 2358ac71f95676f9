import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { compileRule } from '../../../activities/signals/rules/compile-rule.js';
import { OPERATORS } from '../../../activities/signals/rules/operators.js';

const PAPER = readFileSync('docs/rules.md', 'utf8');
const EXAMPLES = [...PAPER.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => parse(text) as object);

describe('docs/rules.md', () => {
  test.each(EXAMPLES.map((rule) => [(rule as { name: string }).name, rule]))(
    'the example %s is a rule without a remark',
    (_name, rule) => {
      const remarks: string[] = [];
      const compiled = compileRule(
        rule,
        (path, message) => void remarks.push(`${path.join('.')}: ${message}`),
      );
      expect(remarks).toEqual([]);
      expect(compiled).not.toBeNull();
    },
  );

  test('shows and names every operator, and no other', () => {
    const used = [...JSON.stringify(EXAMPLES).matchAll(/"op":"(\w+)"/g)].map(([, name = '']) => name);
    const expected = [...OPERATORS.keys(), 'and', 'not', 'or'].sort();
    expect([...new Set(used)].sort()).toEqual(expected);
    const rows = PAPER.split('\n').filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((line) =>
      [...line.split('|')[1]!.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
    );
    for (const operator of OPERATORS.keys()) expect(named).toContain(operator);
  });

  test('says of each shipped rule whether it is on', () => {
    const shipped = readdirSync('deploy/filters.d').map((file) => {
      const rule = parse(readFileSync(`deploy/filters.d/${file}`, 'utf8')) as {
        name: string;
        enabled: boolean;
      };
      return `| \`${file}\` | \`${rule.name}\` | ${rule.enabled ? 'on' : 'off'} |`;
    });
    const told = PAPER.split('\n').flatMap((line) => /^\| `\S+\.yaml` \| `\S+` \| \w+ \|/.exec(line) ?? []);
    expect(told.sort()).toEqual(shipped.sort());
  });
});
