import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseArtifacts } from '../../../deploy/local/maven-artifacts.js';

const LISTS = join(process.cwd(), 'deploy/local/artifacts');

test.each(readdirSync(LISTS).filter((name) => name.endsWith('.txt')))(
  '%s names each artifact once, with a checksum',
  (list) => {
    const artifacts = parseArtifacts(readFileSync(join(LISTS, list), 'utf8'));
    const names = artifacts.map(({ folder, name }) => `${folder}/${name}`);
    expect(new Set(names).size).toBe(names.length);
    // The zip of the security plugin holds all that it needs.
    expect(artifacts.length).toBeGreaterThan(list === 'opensearch-security.txt' ? 0 : 10);
  },
);

test('a line without a checksum is refused', () => {
  expect(() => parseArtifacts('lib org.example:thing:1.0')).toThrow('not an artifact');
});
