import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { aptInstall } from '../apt-install.js';
import { buildIntoCache } from '../build-into-cache.js';
import { findGo } from '../find-go.js';
import { findProgram } from '../find-program.js';
import { goProgress } from '../go-progress.js';
import { LauncherError } from '../launcher-error.js';
import { runTool } from '../run-tool.js';
import type { Workbench } from '../workbench.js';
import { collectOllamaHeaders } from './ollama-headers.js';

const MODULE = 'github.com/ollama/ollama';
const VERSION = '0.17.4';
const BUILT = `ollama-${VERSION}`;

/** The level of x86-64 that the build is made for: without it, embedding is thirty times slower. */
const LEVEL = { march: 'x86-64-v3', flags: ['avx2', 'fma', 'bmi2', 'f16c'] } as const;

const OR_OWN = 'or install Ollama yourself (ollama.com/download), or set OLLAMA_HOST to one that runs';

/** On this machine or built earlier; null: neither. */
export function findOllama(bench: Workbench): string | null {
  const own = join(bench.paths.cache, BUILT, 'ollama');
  const installed = findProgram('ollama', process.env, ['/usr/local/bin', '/opt/homebrew/bin']);
  return installed ?? (existsSync(own) ? own : null);
}

/** Builds the server from its Go module; only for processors of LEVEL. */
export async function buildOllama(bench: Workbench): Promise<string> {
  const missing = missingFlags(process.platform, process.arch, cpuInfo());
  if (missing.length > 0) {
    throw new LauncherError(
      `ollama: it is built for ${LEVEL.march}, and this machine lacks ${missing.join(', ')}`,
      {
        advice: [OR_OWN],
      },
    );
  }
  const go = await findGo('ollama', [OR_OWN]);
  const compiler = await findCompiler(bench);
  const folder = await buildIntoCache(bench, BUILT, 'ollama', async (draft) => {
    bench.report.phase('ollama', 'fetching the headers that its Go module leaves out', 30);
    const scratch = join(draft, 'scratch');
    const headers = await collectOllamaHeaders(bench, scratch);
    bench.report.phase('ollama', `building the server ${VERSION} with Go and ${compiler}`, 300);
    const optimised = `-O3 -march=${LEVEL.march}`;
    await runTool(bench, {
      subject: 'ollama',
      command: go,
      args: [
        'install',
        '-v',
        '-trimpath',
        '-ldflags',
        `-s -w -X ${MODULE}/version.Version=${VERSION}`,
        `${MODULE}@v${VERSION}`,
      ],
      env: {
        GOBIN: draft,
        CGO_ENABLED: '1',
        CGO_CPPFLAGS: `-I${headers}`,
        CGO_CFLAGS: optimised,
        CGO_CXXFLAGS: optimised,
      },
      progress: goProgress,
      advice: ['Go could not build it: look at GOPROXY and GOFLAGS, and at the C compiler', OR_OWN],
    });
    rmSync(scratch, { recursive: true });
  });
  return join(folder, 'ollama');
}

/** What keeps this machine from running the build; empty: nothing. */
export function missingFlags(platform: string, arch: string, cpu: string): string[] {
  if (platform !== 'linux' || arch !== 'x64') return [`Linux on x86-64 (it is ${platform} on ${arch})`];
  const present = new Set(/^flags\s*:(.*)$/m.exec(cpu)?.[1]?.trim().split(/\s+/));
  return LEVEL.flags.filter((flag) => !present.has(flag)).map((flag) => flag.toUpperCase());
}

function cpuInfo(): string {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8');
  } catch {
    return '';
  }
}

async function findCompiler(bench: Workbench): Promise<string> {
  const find = () => findProgram('gcc', process.env) && findProgram('g++', process.env);
  if (find() ?? ((await aptInstall(bench, 'ollama', 'g++')) ? find() : null)) return 'gcc';
  throw new LauncherError('ollama: no C and C++ compiler (gcc, g++) was found, and it is built with them', {
    advice: ['install gcc and g++ (on Debian: apt-get install g++)', OR_OWN],
  });
}
