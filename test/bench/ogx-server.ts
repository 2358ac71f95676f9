import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';

const FOLDER = fileURLToPath(new URL('./ogx', import.meta.url));
const LAST_WORDS = 2000;

export interface OgxServer {
  pid: number;
  /** With `/v1`. */
  url: string;
  close(): Promise<void>;
}

/** Starts OGX on empty stores, with the packages that `npm run bench:peers` has put into the cache. */
export async function openOgx(ollama: string): Promise<OgxServer> {
  const required = (name: string): string => {
    const value = process.env[name];
    if (value === undefined) throw new Error(`${name} is not set: run this with \`npm run bench:peers\``);
    return value;
  };
  const packages = required('TAMIS_OGX_PACKAGES');
  const data = mkdtempSync(join(tmpdir(), 'tamis-ogx-'));
  const port = await freePort();
  const log = join(data, 'server.log');
  const output = openSync(log, 'w');
  const child = spawn(
    required('TAMIS_OGX_PYTHON'),
    [
      join(packages, 'bin/ogx'),
      'run',
      join(FOLDER, 'ogx.yaml'),
      '--port',
      String(port),
      // Without access control, on loopback.
      '--insecure',
    ],
    {
      cwd: data,
      env: {
        PATH: process.env['PATH'],
        HOME: data,
        PYTHONPATH: [FOLDER, packages].join(delimiter),
        OLLAMA_HOST: ollama,
        SQLITE_STORE_DIR: data,
        TIKTOKEN_CACHE_DIR: required('TAMIS_OGX_VOCABULARY'),
        // It is to fetch and to report nothing.
        HF_HUB_OFFLINE: '1',
        // Nothing beside our own file.
        PYTHONDONTWRITEBYTECODE: '1',
        OTEL_SDK_DISABLED: 'true',
        DO_NOT_TRACK: '1',
      },
      // In our own group, which the launcher ends as a whole.
      stdio: ['ignore', output, output],
    },
  );
  closeSync(output);
  const url = `http://127.0.0.1:${port}/v1`;
  const close = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const killed = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await gone;
      clearTimeout(killed);
    }
    rmSync(data, { recursive: true, force: true });
  };
  try {
    await until(
      'OGX answers',
      async () => {
        if (child.exitCode !== null) throw new Error('OGX has ended');
        return await fetch(`${url}/health`).then(
          ({ ok }) => ok,
          () => false,
        );
      },
      { withinMs: 180_000, everyMs: 500 },
    );
  } catch (error) {
    const words = readFileSync(log, 'utf8').slice(-LAST_WORDS);
    await close();
    throw new Error(`${String(error)}\n${words}`, { cause: error });
  }
  return { pid: child.pid!, url, close };
}
