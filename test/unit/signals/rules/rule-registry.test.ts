import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openRuleRegistry } from '../../../../activities/signals/rules/rule-registry.js';
import type {
  RuleRegistry,
  RuleRegistryOptions,
  RuleSet,
} from '../../../../activities/signals/rules/rule-registry.js';
import type { SavedRuleSet } from '../../../../schemas/signals/saved-rules.js';
import { until } from '../../../support/until.js';

let folder: string;
let book: RuleRegistry | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tamis-rules-'));
});
afterEach(async () => {
  await book?.close();
  book = undefined;
  await rm(folder, { recursive: true, force: true });
});

function write(name: string, field: string): Promise<void> {
  return writeFile(
    join(folder, name),
    field === 'broken' ? 'name: [' : `name: ${name}\nfilter: { field: ${field}, op: not_empty }\n`,
  );
}

async function open(options: Partial<RuleRegistryOptions> = {}): Promise<RuleRegistry> {
  book = await openRuleRegistry({
    directories: [folder],
    readMain: async () => ({ mode: 'block', rules: [] }),
    ...options,
  });
  return book;
}

function fieldsOf({ rules }: RuleSet): unknown[] {
  return rules.map(({ filter }) => (filter as { field: string }).field);
}

describe('the rules while the gateway runs', () => {
  test('follow their files: a new one, a changed one, a removed one', async () => {
    await write('b.yaml', 'b');
    const rules = await open();
    const first = rules.current();
    expect(fieldsOf(first)).toEqual(['b']);
    await write('a.yaml', 'a');
    await until('the new file counts', async () => fieldsOf(rules.current()).join() === 'a,b');
    await write('b.yaml', 'c');
    await until('the change counts', async () => fieldsOf(rules.current()).join() === 'a,c');
    await rm(join(folder, 'a.yaml'));
    await write('b.yaml', 'b');
    await until('what is gone is gone', async () => fieldsOf(rules.current()).join() === 'b');
    // The same rules again have the same version.
    expect(rules.current().version).toBe(first.version);
  });

  test('keep the last good form of a file that breaks, and say so', async () => {
    await write('a.yaml', 'a');
    await write('b.yaml', 'b');
    const rules = await open();
    const { version } = rules.current();
    await write('a.yaml', 'broken');
    await until('the fault shows', async () => rules.current().faults.length === 1);
    expect(fieldsOf(rules.current())).toEqual(['a', 'b']);
    expect(rules.current().version).toBe(version);
    expect(rules.current().faults[0]).toEqual({
      file: join(folder, 'a.yaml'),
      message: expect.stringMatching(/^line 1: .*; its last good form holds$/),
    });
    await rules.reload();
    expect(fieldsOf(rules.current())).toEqual(['a', 'b']);
    await write('a.yaml', 'z');
    await until('it is mended', async () => rules.current().faults.length === 0);
    expect(fieldsOf(rules.current())).toEqual(['z', 'b']);
  });

  test('tell what of the main file matches nothing', async () => {
    const message = 'filters.rules.0.filter.value: regex cannot use "(", which never matches';
    const rules = await open({
      mainFile: '/etc/proxy.yaml',
      readMain: async () => ({ mode: 'block', rules: [], faults: [message] }),
    });
    expect(rules.current().faults).toEqual([{ file: '/etc/proxy.yaml', message }]);
  });

  test('have nothing to keep of a file that was broken from the start', async () => {
    await write('a.yaml', 'broken');
    const rules = await open();
    expect(rules.current()).toMatchObject({ rules: [], faults: [{ file: join(folder, 'a.yaml') }] });
  });

  test('survive the loss of their folder', async () => {
    await write('a.yaml', 'a');
    const rules = await open();
    await rename(folder, `${folder}-away`);
    await rules.reload();
    expect(fieldsOf(rules.current())).toEqual(['a']);
    expect(rules.current().faults[0]?.message).toContain('the folder cannot be read');
    await mkdir(folder);
    await rules.reload();
    expect(rules.current()).toMatchObject({ rules: [], faults: [] });
    await rm(`${folder}-away`, { recursive: true });
  });

  test('keep what the main file said while it is broken', async () => {
    let broken = false;
    const changes: string[] = [];
    const rules = await open({
      mainFile: join(folder, 'main.yml'),
      readMain: async () => {
        if (broken) throw new Error('line 7: no');
        return { mode: 'allow', rules: [] };
      },
      onChange: ({ version }) => changes.push(version),
    });
    broken = true;
    await rules.reload();
    expect(rules.current()).toMatchObject({
      mode: 'allow',
      faults: [{ file: join(folder, 'main.yml'), message: 'line 7: no; what it said before holds' }],
    });
    await rules.reload();
    expect(changes).toHaveLength(2);
    await expect(open({ readMain: () => Promise.reject(new Error('at the start')) })).rejects.toThrow(
      'at the start',
    );
  });

  test('stay in force where reading them fails in a way that nobody foresaw, and are read again', async () => {
    let fails = false;
    const rules = await open({
      now: () => {
        if (fails) throw new Error('no clock');
        return new Date();
      },
    });
    fails = true;
    await write('a.yaml', 'a');
    await rules.reload();
    expect(rules.current()).toMatchObject({
      rules: [],
      faults: [{ file: 'rules', message: expect.stringContaining('no clock; what they said before holds') }],
    });
    fails = false;
    await rules.reload();
    expect(fieldsOf(rules.current())).toEqual(['a']);
    expect(rules.current().faults).toEqual([]);
  });

  test('are the saved ones of a restore, also where these have the number of those before', async () => {
    const setOf = (field: string, savedAt: string): SavedRuleSet => ({
      version: 1,
      savedAt: new Date(savedAt),
      savedBy: 'key',
      note: null,
      texts: [`name: saved\nfilter: { field: ${field}, op: not_empty }\n`],
    });
    let stored = setOf('before', '2026-01-01T00:00:00Z');
    const rules = await open({ saved: { newest: async () => stored, get: async () => stored } });
    expect(fieldsOf(rules.current())).toEqual(['before']);
    stored = setOf('restored', '2025-01-01T00:00:00Z');
    await until('the restored ones count', async () => fieldsOf(rules.current()).join() === 'restored');
  });

  test('have another version when the mode, a scope or a switch changes', async () => {
    const versions = new Set<string>();
    for (const extra of ['', 'enabled: false\n', 'watchers: paris\n', 'description: only words\n']) {
      await writeFile(join(folder, 'a.yaml'), `name: a\nfilter: { field: a, op: empty }\n${extra}`);
      const rules = await open();
      versions.add(rules.current().version);
      await rules.close();
    }
    const rules = await open({ readMain: async () => ({ mode: 'allow', rules: [] }) });
    versions.add(rules.current().version);
    expect(versions.size).toBe(4);
  });
});
