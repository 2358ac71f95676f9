import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CHECKS =
  'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance';

/** Whether 503 is named among the answers is the business of the other checks: a model server may be away. */
const CONFIG = `[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]
`;

export interface FuzzRun {
  /** The gateway, without a slash at the end. */
  url: string;
  header: string;
  /** Which operations, by their path. */
  paths: string;
  excluded?: string;
  /** Generated requests for each operation at most. */
  examples: number;
  seed: number;
  phases: string;
  withinMs: number;
}

interface FuzzReport {
  /** One line for each fault, with the request that shows it. */
  faults: string[];
  requests: number;
  output: string;
}

/** Where the tool is, as the launcher obtained it; null where it could not. */
export function findSchemathesis(): { python: string; packages: string } | null {
  const { TAMIS_PYTHON: python, TAMIS_FUZZ_PACKAGES: packages } = process.env;
  return python === undefined || packages === undefined ? null : { python, packages };
}

/**
 * Sends generated requests, right and wrong ones, to each operation of `/openapi.json`, and compares every answer with
 * what the document says of it. The same seed makes the same requests.
 */
export async function runSchemathesis(
  { python, packages }: { python: string; packages: string },
  run: FuzzRun,
): Promise<FuzzReport> {
  const folder = await mkdtemp(join(tmpdir(), 'tamis-fuzz-'));
  const report = join(folder, 'report.xml');
  const config = join(folder, 'schemathesis.toml');
  const args = [
    '-m',
    'schemathesis.cli',
    '--config-file',
    config,
    'run',
    `${run.url}/openapi.json`,
    '--header',
    run.header,
    '--checks',
    CHECKS,
    '--include-path-regex',
    run.paths,
    '--phases',
    run.phases,
    '--seed',
    String(run.seed),
    ...(run.excluded === undefined ? [] : ['--exclude-path-regex', run.excluded]),
    '--max-examples',
    String(run.examples),
    '--request-timeout',
    '20',
    '--continue-on-failure',
    '--suppress-health-check',
    'all',
    '--generation-database',
    'none',
    '--no-shrink',
    '--warnings',
    'off',
    '--report',
    'junit',
    '--report-junit-path',
    report,
    '--no-color',
    '--max-redirects',
    '0',
  ];
  try {
    await writeFile(config, CONFIG);
    const output = await new Promise<string>((resolve, reject) => {
      const options = {
        cwd: folder,
        env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
        timeout: run.withinMs,
        maxBuffer: 256 * 1024 * 1024,
      };
      execFile(python, args, options, (error, stdout, stderr) => {
        // 1: it found something
        if (error !== null && error.code !== 1)
          reject(new Error(`schemathesis ended with ${error.code ?? error.signal}:\n${stdout}\n${stderr}`));
        else resolve(stdout);
      });
    });
    const found = await readFile(report, 'utf8');
    const faults = [...found.matchAll(/<(?:failure|error)[^>]*message="([^"]*)"/g)].map(
      ([, message]) => message ?? '',
    );
    const requests = Number(/(\d+) generated/.exec(output)?.[1] ?? 0);
    return { faults, requests, output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
