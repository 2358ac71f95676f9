import { buildOllama, findOllama } from './ollama-program.js';
import { keptModels, makeModels } from './ollama-models.js';
import { ollamaAnswers, ollamaEnvironment } from './ollama-server.js';
import type { Program, Service } from './service.js';

/**
 * A server for real models, with a small embedder and a small chat model. It is used where it was obtained before;
 * obtaining it takes minutes and so is done only when asked for (`--ollama`).
 */
export const ollama: Service = {
  name: 'ollama',
  variable: 'OLLAMA_HOST',
  ports: [11435],
  optional: {
    obtains: false,
    without: 'the built-in models are used (`npm run demo -- --ollama` obtains it, about 6 min)',
  },

  /** A server without our models is of no use: it counts as not found. */
  async find(bench) {
    const path = findOllama(bench);
    return path && keptModels(bench) ? program(path) : null;
  },

  async kept() {
    return null; // `find` has looked into the cache, since a server of the system can use the models that are there
  },

  /** Its makers' archive is 1.9 GB, most of it for graphics processors. */
  async download() {
    return null;
  },

  async build(bench) {
    const path = findOllama(bench) ?? (await buildOllama(bench));
    await makeModels(bench, path);
    return program(path);
  },

  async launch(bench, { path }, [port = 0]) {
    const folder = keptModels(bench);
    if (folder === null) throw new Error('ollama: its models are gone from the cache');
    const env = ollamaEnvironment(folder, port);
    return { command: path, args: ['serve'], cwd: folder, env, readySeconds: 60, expectedSeconds: 1 };
  },

  addresses([port]) {
    return { ollama: `http://127.0.0.1:${port}` };
  },

  ready: (_bench, address) => ollamaAnswers(address),
};

function program(path: string): Program {
  return { path, kind: 'ollama', label: `ollama (${path})` };
}
