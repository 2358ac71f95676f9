import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { goProgress } from '../../../deploy/local/go-progress.js';
import { artifactProgress, parseArtifacts } from '../../../deploy/local/maven-artifacts.js';
import { inOneLine } from '../../../deploy/local/reporter.js';
import { runTool } from '../../../deploy/local/run-tool.js';
import { until } from '../../support/until.js';
import { temporaryFolder } from './temporary-folder.js';
import { testBench } from './test-bench.js';

describe('what a step is at', () => {
  test('is shown in the room that the steps leave, and never beyond the line', () => {
    const building = {
      text: 'temporal: building 2:10 min',
      detail: '812 packages compiled: google.golang.org/grpc',
    };
    const starting = { text: 'opensearch: starting 12 s', detail: null };
    expect(inOneLine([building, starting], 120)).toBe(
      'temporal: building 2:10 min (812 packages compiled: google.golang.org/grpc) · opensearch: starting 12 s',
    );
    expect(inOneLine([building, starting], 86)).toBe(
      'temporal: building 2:10 min (812 packages c…lang.org/grpc) · opensearch: starting 12 s',
    );
    expect(inOneLine([building, starting], 60)).toBe(
      'temporal: building 2:10 min · opensearch: starting 12 s',
    );
    for (let width = 1; width < 130; width += 1) {
      expect(inOneLine([building, starting, building], width).length).toBeLessThanOrEqual(width);
    }
  });

  test('is the last line of a tool that runs, with how far it is, until it ends', async () => {
    const details: ((() => string | null) | null)[] = [];
    const bench = testBench(temporaryFolder());
    bench.report.detail = (subject, read) => void (subject === 'thing' && details.push(read));
    const script = `
      console.log('one\\ntwo\\n\\u001b[32mthree\\u001b[0m\\r\\u001b[32mfour\\u001b[0m\\n');
      const wait = setInterval(() => require('node:fs').existsSync('go on') && clearInterval(wait), 10);`;
    const call = { command: process.execPath, args: ['-e', script], cwd: bench.paths.root };
    const progress = (written: string) => `${written.match(/^\w/gm)?.length} lines`;
    const running = runTool(bench, { ...call, subject: 'thing-apt', step: 'thing', progress });
    await until('it has written', async () => details[0]?.() === '2 lines: four');
    writeFileSync(join(bench.paths.root, 'go on'), '');
    await running;
    expect(details.slice(1)).toEqual([null]);
  });

  test('with Go: modules, then packages', () => {
    expect(goProgress('')).toBeNull();
    const downloads =
      'go: downloading go.temporal.io/sdk v1.34.0\ngo: downloading modernc.org/sqlite v1.44.3\n';
    expect(goProgress(downloads)).toBe('2 modules downloaded');
    const packages = 'internal/cpu\ngolang.org/x/net/http2\n# github.com/a/b\n./main.go:1: undefined: x\n';
    expect(goProgress(downloads + packages)).toBe('2 packages compiled');
  });

  test('with Maven: artifacts of the list, each counted once, and not those of its own plugins', () => {
    const sum = 'a'.repeat(64);
    const artifacts = parseArtifacts(
      `${sum} lib org.a:one:1.0\n${sum} lib org.a:two:2.0\n${sum} . org.a:pack:3:zip\n`,
    );
    expect(artifactProgress(artifacts, '[INFO] Scanning for projects...')).toBeNull();
    const written = `
Downloaded from mirror: https://repository.example/maven/org/codehaus/plexus-utils/3.4/plexus-utils-3.4.jar (264 kB at 2 MB/s)
Downloaded from mirror: https://repository.example/maven/org/a/one/1.0/one-1.0.jar (12 kB at 1.2 MB/s)
[INFO] Copying one-1.0.jar to /cache/lib/one-1.0.jar
Downloaded from mirror: https://repository.example/maven/org/a/pack/3/pack-3.zip (40 MB at 9 MB/s)`;
    expect(artifactProgress(artifacts, written)).toBe('2 of 3 artifacts');
  });
});
