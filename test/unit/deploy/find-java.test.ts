import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { VECTOR_MODULE, installedJava, installedVectorJava } from '../../../deploy/local/find-java.js';

const before = process.env['JAVA_HOME'];
let home: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'java-')));
  process.env['JAVA_HOME'] = home;
});

afterEach(() => {
  rmSync(home, { recursive: true });
  if (before === undefined) delete process.env['JAVA_HOME'];
  else process.env['JAVA_HOME'] = before;
});

function install(version: string, modules: readonly string[]): string {
  mkdirSync(join(home, 'bin'));
  const java = join(home, 'bin/java');
  writeFileSync(java, '#!/bin/sh\n');
  chmodSync(java, 0o755);
  writeFileSync(join(home, 'release'), `JAVA_VERSION="${version}"\nMODULES="${modules.join(' ')}"\n`);
  return java;
}

test('a Java that has the vector module is taken for it', async () => {
  const java = install('21.0.4', ['java.base', VECTOR_MODULE]);
  expect(await installedVectorJava()).toBe(java);
});

test.each([
  ['whose version Lucene gives no vectors', '17.0.9', [VECTOR_MODULE]],
  ['without the module', '21.0.4', ['java.base']],
  ['that is too new for OpenSearch', '25.0.1', [VECTOR_MODULE]],
])('a Java %s is not', async (_, version, modules) => {
  const java = install(version, modules);
  expect(await installedVectorJava()).not.toBe(java);
});

test('one that is too old or too new runs nothing', async () => {
  const java = install('25.0.1', ['java.base']);
  expect(await installedJava()).not.toBe(java);
});
