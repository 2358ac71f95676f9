import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { evaluateRules, factsOf } from '../../../../activities/signals/rules/evaluate-rules.js';
import { parseConfig } from '../../../../schemas/config/config.js';
import { rulesFolder } from '../../../../activities/signals/rules/rules-folder.js';
import { loadRules } from '../../../../activities/signals/rules/load-rules.js';
import { signalFields } from '../../../../activities/signals/reading/signal-fields.js';

function rule(name: string, rest = '') {
  return `name: ${name}\nfilter:\n  field: scenario\n  op: eq\n  value: ${name}\n${rest}`;
}

const ALIAS_BOMB = [
  'a: &a [x, x, x, x, x, x, x, x, x]',
  ...[...'bcdefgh'].map((name, index) => {
    const before = 'abcdefg'[index];
    return `${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`;
  }),
  'name: bomb',
].join('\n');

/** Below the limit on aliases, yet thousands of conditions once it is spread out. */
const TREE_BOMB = [
  'name: tree-bomb',
  'x0: &x0 {field: a, op: empty}',
  ...[1, 2, 3].map((level) => {
    const inner = Array(20)
      .fill(`*x${level - 1}`)
      .join(', ');
    return `x${level}: &x${level} {op: or, conditions: [${inner}]}`;
  }),
  'filter: *x3',
].join('\n');

test('rules come from FILTERS_DIR, else from beside CONFIG_PATH, else from what is shipped', () => {
  const folder = (env: Record<string, string>) => rulesFolder(parseConfig(env).proxy, '/shipped');
  expect(folder({})).toBe('/shipped');
  expect(folder({ CONFIG_PATH: '/etc/proxy/filters.yaml' })).toBe('/etc/proxy/filters.d');
  expect(folder({ CONFIG_PATH: 'filters.yaml' })).toBe('filters.d');
  expect(folder({ CONFIG_PATH: '/etc/proxy/filters.yaml', FILTERS_DIR: '/rules' })).toBe('/rules');
});

describe('loading rules', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tamis-rules-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });
  const write = (name: string, text: string | Buffer) => writeFile(join(folder, name), text);
  const load = () => loadRules({ directories: [folder] });

  test('in name order, .yaml and .yml, without hidden ones', async () => {
    await write('20-b.yml', rule('b'));
    await write('10-a.yaml', rule('a', 'enabled: false\ndescription: first\n'));
    for (const name of ['_c.yaml', '.d.yaml', 'e.yaml.bak', 'README.md']) await write(name, rule('no'));
    await mkdir(join(folder, '..data'));
    const { rules, faults } = await load();
    expect(faults).toEqual([]);
    expect(rules).toMatchObject([
      { name: 'a', description: 'first', enabled: false, watchers: null, file: join(folder, '10-a.yaml') },
      { name: 'b', description: null, enabled: true, watchers: null, file: join(folder, '20-b.yml') },
    ]);
  });

  test('folders in the order given, each once; a link to a file counts', async () => {
    const second = join(folder, 'second');
    await mkdir(second);
    await write('z.yaml', rule('z'));
    await writeFile(join(second, 'target'), rule('linked'));
    await symlink('target', join(second, 'a.yaml'));
    const { rules, faults } = await loadRules({ directories: [folder, second, `${folder}/.`] });
    expect(rules.map(({ name }) => name)).toEqual(['z', 'linked']);
    expect(faults).toEqual([]);
  });

  test('a folder that is not there is a fault, and the others load', async () => {
    await write('a.yaml', rule('a'));
    const missing = join(folder, 'missing');
    const { rules, faults } = await loadRules({ directories: [missing, folder] });
    expect(rules).toHaveLength(1);
    expect(faults).toEqual([{ file: missing, message: 'the folder cannot be read: ENOENT' }]);
  });

  const BROKEN: [what: string, text: string | Buffer, message: RegExp][] = [
    ['YAML that does not parse', 'name: x\nfilter:\n  - [\nb', /^line \d: /],
    ['a tab as indentation', 'name: x\nfilter:\n\tfield: a', /^line 3: /],
    ['a key twice', 'name: x\nname: y', /^line 2: the key "name" stands twice$/],
    ['two documents', `${rule('a')}---\n${rule('b')}`, /^line \d: .*multiple documents/],
    ['nothing', '', /^line 1: a rule must be a mapping/],
    ['a list', '- a', /^line 1: a rule must be a mapping/],
    ['no name', 'filter:\n  field: a\n  op: empty', /^line 1: the rule has no "name"$/],
    ['a blank name', 'filter:\n  field: a\n  op: empty\nname: ""', /^line 4: the rule has no "name"$/],
    ['no filter', 'name: x', /^line 1: the rule has no "filter"$/],
    ['enabled as a text', rule('x', 'enabled: "no"'), /^line 6: "enabled" must be true or false$/],
    [
      'an unknown operator',
      'name: x\nfilter:\n  field: a\n  op: like\n  value: b',
      /^line 4: the operator "like" is not known$/,
    ],
    [
      'an inherited name as operator',
      'name: x\nfilter:\n  field: a\n  op: constructor',
      /^line 4: the operator "constructor"/,
    ],
    ['no operator', 'name: x\nfilter:\n  field: a', /^line 3: a condition must have an "op"$/],
    ['no field', 'name: x\nfilter:\n  op: empty', /^line 3: empty needs a "field"/],
    [
      'an empty part of a field',
      'name: x\nfilter:\n  op: empty\n  field: a..b',
      /^line 4: empty needs a "field"/,
    ],
    [
      'no conditions',
      'name: x\nfilter:\n  op: and\n  conditions: []',
      /^line 4: "conditions" must be a list/,
    ],
    [
      'a condition deep inside',
      'name: x\nfilter:\n  op: or\n  conditions:\n    - field: a\n      op: empty\n    - op: not\n      condition:\n        field: b\n        op: gt\n        value: five',
      /^line 11: gt needs a value that is a number$/,
    ],
    ['eq without a value', 'name: x\nfilter:\n  field: a\n  op: eq', /^line 3: eq needs a value/],
    [
      'in without a list',
      'name: x\nfilter:\n  field: a\n  op: in\n  value: b',
      /^line 5: in needs a value that is a list/,
    ],
    ['not a number', 'name: x\nfilter:\n  field: a\n  op: lt\n  value: .nan', /^line 5: lt needs/],
    [
      'a bad pattern of a watcher',
      'name: x\nwatchers: "x!(a|b)"\nfilter:\n  field: a\n  op: empty',
      /^line 2: "watchers" cannot use "x!\(a\|b\)"/,
    ],
    ['a huge file', `${rule('x')}# ${'x'.repeat(300_000)}`, /^line 1: the file is larger than 262144 bytes$/],
    ['no UTF-8', Buffer.from([0x6e, 0xff, 0xfe]), /^line 1: the file is not UTF-8$/],
    ['an alias bomb', ALIAS_BOMB, /^line \d: (Excessive alias count|there are more than 100 aliases)/],
    [
      'an alias bomb of conditions',
      TREE_BOMB,
      /more than 1000 conditions|Excessive alias count|more than 100 aliases/,
    ],
    ['an alias of itself', 'name: x\nfilter: &f {op: not, condition: *f}', /^line \d: /],
    [
      'a value that holds itself',
      'name: x\nfilter: &f {op: empty, field: a, value: *f}',
      /^line 2: (this is nested deeper than 100 levels, or holds itself by an alias|empty )/,
    ],
    [
      'an unknown key that holds itself',
      'name: x\nextra: &e [*e]\nfilter: {op: empty, field: a}',
      /^line 2: /,
    ],
    [
      'a value in brackets by the hundred',
      `name: x\nfilter: {op: empty, field: a, value: ${'['.repeat(200)}${']'.repeat(200)}}`,
      /^line 2: /,
    ],
    ['brackets by the thousand', `name: x\nfilter: ${'['.repeat(100_000)}`, /^line \d+: /],
    [
      'nesting by the hundred',
      `name: x\nfilter: ${'{op: not, condition: '.repeat(200)}{}${'}'.repeat(200)}`,
      /^line 2: conditions are nested deeper than 32 levels$/,
    ],
  ];
  test.each(BROKEN)('%s: a fault with file and line, and the others load', async (_what, text, message) => {
    await write('10-good.yaml', rule('good'));
    await write('20-broken.yaml', text);
    await write('30-better.yaml', rule('better'));
    const { rules, faults } = await load();
    // Not linear would not end within the time limit of the test.
    expect(rules.map(({ name }) => name)).toEqual(['good', 'better']);
    expect(faults[0]).toEqual({
      file: join(folder, '20-broken.yaml'),
      message: expect.stringMatching(message),
    });
    expect(new Set(faults.map(({ file }) => basename(file)))).toEqual(new Set(['20-broken.yaml']));
  });

  test.each(['regex', 'glob'])(
    'a %s that cannot be used matches nothing: told, and its rule holds',
    async (op) => {
      const bad = op === 'regex' ? '(' : 'x!(a|b)';
      await write(
        'a.yaml',
        `name: x\nfilter:\n  op: or\n  conditions:\n    - {op: ${op}, field: a, value: '${bad}'}\n    - {op: eq, field: b, value: 1}`,
      );
      const { rules, faults } = await load();
      expect(rules.map(({ condition }) => [condition({ a: bad }), condition({ b: 1 })])).toEqual([
        [null, 'b equals 1'],
      ]);
      expect(faults).toEqual([
        {
          file: join(folder, 'a.yaml'),
          message: expect.stringMatching(/^line 5: \w+ cannot use ".+", which never matches: it /),
        },
      ]);
    },
  );

  test('every problem of a file is told at once', async () => {
    await write(
      'a.yaml',
      'enabled: 5\nfilter:\n  op: and\n  conditions:\n    - op: bad\n    - {op: gt, field: a}',
    );
    const { faults } = await load();
    expect(faults.map(({ message }) => message)).toEqual([
      'line 1: the rule has no "name"',
      'line 1: "enabled" must be true or false',
      'line 5: the operator "bad" is not known',
      'line 6: gt needs a value that is a number',
    ]);
  });

  test('a misspelt key is told, and the rule stays', async () => {
    await write('a.yaml', rule('a', 'enabeld: false\n'));
    const { rules, faults } = await load();
    expect(rules).toHaveLength(1);
    expect(faults).toEqual([
      { file: join(folder, 'a.yaml'), message: 'line 6: the key "enabeld" is not known and ignored' },
    ]);
  });

  test('a named pipe or a folder does not hold up the start', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe.yaml')]);
    await mkdir(join(folder, 'folder.yaml'));
    await write('z.yaml', rule('z'));
    const { rules, faults } = await load();
    expect(rules).toHaveLength(1);
    expect(faults.map(({ message }) => message)).toEqual(Array(2).fill('line 1: this is not a file'));
  });
});

describe('the rules we ship', () => {
  const shipped = () => loadRules({ directories: ['deploy/filters.d'] });
  const reasonsFor = async (signal: unknown, version: 'v2' | 'v3' = 'v2') =>
    evaluateRules(
      (await shipped()).rules,
      'block',
      signal,
      factsOf(signalFields(signal), { watcher: 'w', version }),
    ).reasons;

  test('load without a fault, the examples disabled', async () => {
    const { rules, faults } = await shipped();
    expect(faults).toEqual([]);
    expect(rules.map(({ name, enabled }) => [name, enabled])).toEqual([
      ['no-decisions', true],
      ['simulated', true],
      ['internal-ranges', true],
      ['noisy-http-scenarios', false],
      ['countries', false],
      ['nested', false],
    ]);
  });

  test('a client that cannot send decisions is not held back for having none', async () => {
    const old = { scenario: 'crowdsecurity/ssh-bf', source: { ip: '203.0.113.7' } };
    expect(await reasonsFor(old)).toEqual([]);
    expect(await reasonsFor({ ...old, uuid: 'x' })).toEqual(['uuid is not empty AND decisions is empty']);
    expect(await reasonsFor({ ...old, uuid: 'x', decisions: [{}] })).toEqual([]);
    // Who speaks v3 can send decisions, and v2 without a uuid cannot.
    expect(await reasonsFor(old, 'v3')).toEqual(['proxy.version equals "v3" AND decisions is empty']);
    expect(await reasonsFor(old, 'v2')).toEqual([]);
  });

  test('internal addresses and simulated alerts are held back', async () => {
    expect(await reasonsFor({ source: { ip: '10.1.2.3', value: '10.1.2.3' }, simulated: true })).toEqual([
      'simulated equals true',
      'source.ip is internal',
    ]);
    expect(await reasonsFor({ source: { value: '192.168.7.7' } })).toEqual(['source.value is internal']);
    expect(await reasonsFor({ source: { value: '10.0.0.0/8' } })).toEqual(['source.value is internal']);
    expect(await reasonsFor({ source: { ip: '::ffff:10.0.0.1' } })).toEqual(['source.ip is internal']);
  });
});
