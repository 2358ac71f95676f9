import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDERS = ['schemas', 'workflows', 'activities', 'workers', 'api', 'deploy', 'web/src'];

/** Words that the code had of its own, and the term that stands for each. */
const WORDS: readonly [pattern: RegExp, term: string][] = [
  [/gate-?keeper/i, 'access control'],
  [/(login|decision|metrics)-?desk/i, 'login, decision or metrics cache'],
  [/\bwakers?\b/i, 'notify-forwarding'],
  [/stranger/i, 'unknown watcher, unauthenticated client'],
  [/\bpatience/i, 'timeoutMs'],
  [/\b(MOST|LEAST|LONGEST|DEEPEST)(_|\b)/, 'MIN_, MAX_'],
  [/\b(whoever|nobody|somebody|anybody|everybody)\b/i, 'the user, client, process or caller that is meant'],
  [/secret-?box|sign-?of-?life|rule-?book/i, 'encryption, health file, rule registry'],
];

/** Where a word is the field's own, or what is stored under it would not be found any more. */
const KEPT: Readonly<Record<string, RegExp>> = {
  'activities/retrieval/verification/polarity-words.ts': /nobody/,
  'activities/stores/mongo/ensure-indexes.ts': /'stranger\./,
  'activities/stores/mongo/signals/unknown-watchers.ts': /\bstranger\b/,
  'activities/stores/mongo/signals/watcher-document.ts': /\bstranger\b/,
  'activities/stores/mongo/signals/watcher-records.ts': /\bstranger\b/,
  'activities/stores/mongo/signals/watcher-store.ts': /\bstranger\b/,
  'activities/stores/mongo/signals/watcher-tokens.ts': /\bstranger\b/,
  'activities/stores/mongo/signals/login-store.ts': /'\*refused strangers'/,
  'api/signals/relay/login-cache.ts': /UNKNOWN_MACHINES = 'strangers'/,
  'deploy/local/services/unprivileged.ts': /nobody/,
  'deploy/local/commands/check-docker.ts': /"nobody"/,
};

test('the code uses the terms of the field', () => {
  const found = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|tsx|mjs)$/.test(name) && !name.endsWith('.gen.ts'))
      .map((name) => join(folder, name)),
  ).flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => {
        if (KEPT[file]?.test(line) === true) return [];
        return WORDS.filter(([pattern]) => pattern.test(line)).map(
          ([, term]) => `${file}:${index + 1}: ${term}: ${line.trim()}`,
        );
      }),
  );
  expect(found).toEqual([]);
});
