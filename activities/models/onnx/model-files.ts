import type { Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { isModelFolderName } from '../../../schemas/models/model-endpoints.js';
import { ProviderFailure } from '../servers/provider-failure.js';
import type { ModelPaths } from './thread-messages.js';

export interface ModelFiles extends ModelPaths {
  /** Another one when a file was replaced. */
  fingerprint: string;
}

/**
 * Names that exporters give to the graph, best first: the plain one, then those with weights of 8 bits, as Optimum and
 * Transformers.js write them. Sources: huggingface.co/docs/optimum/exporters/onnx and
 * huggingface.co/docs/transformers.js/guides/dtypes.
 */
const GRAPHS = ['model.onnx', 'model_quantized.onnx', 'model_int8.onnx', 'model_uint8.onnx'].flatMap(
  (file) => [`onnx/${file}`, file],
);

/** More would not fit an administrator's page. */
const MAX_LISTED = 500;

interface FoundFile {
  path: string;
  stats: Stats;
}

/** What is there, followed through links; null when there is nothing. */
async function look(path: string): Promise<FoundFile | null> {
  try {
    const real = await realpath(path);
    return { path: real, stats: await stat(real) };
  } catch {
    return null;
  }
}

async function rootOf(folder: string | null): Promise<string> {
  if (folder === null)
    throw new ProviderFailure('refused', 'MODELS_DIR is not set, so that there is no model to load');
  const root = await look(folder);
  if (root?.stats.isDirectory() !== true)
    throw new ProviderFailure('refused', 'MODELS_DIR names no folder that can be read');
  return root.path;
}

function markOf({ path, stats }: FoundFile): string {
  return JSON.stringify([path, stats.size, stats.mtimeMs, stats.ino]);
}

/**
 * The files of one model in the folder of models. Its name comes from an administrator of the API, who must not be able
 * to have anything else read: it is one plain name, and neither its folder nor a file in it may be a link that leads
 * out. Links inside are followed, as downloads of the hub consist of them.
 * @throws ProviderFailure `unknown-model` when there is no such folder, `refused` when it cannot be used
 */
export async function findModelFiles(folder: string | null, name: string): Promise<ModelFiles> {
  const root = await rootOf(folder);
  if (!isModelFolderName(name))
    throw new ProviderFailure('refused', `'${name}' cannot be the name of a folder in MODELS_DIR`);
  const inside = ({ path }: FoundFile): boolean => path.startsWith(root.endsWith(sep) ? root : root + sep);
  const home = await look(join(root, name));
  if (home === null) throw new ProviderFailure('unknown-model', `MODELS_DIR has no folder '${name}'`);
  if (!inside(home) || !home.stats.isDirectory())
    throw new ProviderFailure('refused', `'${name}' is not a folder inside MODELS_DIR`);

  const fileIn = async (file: string): Promise<FoundFile | null> => {
    const found = await look(join(home.path, file));
    if (found === null || !found.stats.isFile()) return null;
    if (!inside(found))
      throw new ProviderFailure('refused', `${file} of the model '${name}' leads out of MODELS_DIR`);
    return found;
  };
  const needed = async (file: string): Promise<FoundFile> => {
    const found = await fileIn(file);
    if (found === null) throw new ProviderFailure('refused', `the model '${name}' has no file ${file}`);
    return found;
  };
  const graph = async (): Promise<FoundFile> => {
    for (const file of GRAPHS) {
      const found = await fileIn(file);
      if (found === null) continue;
      if ((await fileIn(`${file}_data`)) !== null)
        throw new ProviderFailure(
          'refused',
          `the model '${name}' keeps its weights apart (${file}_data), which is not supported: export it as one file`,
        );
      return found;
    }
    throw new ProviderFailure('refused', `the model '${name}' has no file onnx/model.onnx or model.onnx`);
  };

  const tokenizer = await needed('tokenizer.json');
  const config = await needed('config.json');
  const tokenizerConfig = await fileIn('tokenizer_config.json');
  const model = await graph();
  const all = [model, tokenizer, config, ...(tokenizerConfig === null ? [] : [tokenizerConfig])];
  return {
    name,
    model: model.path,
    tokenizer: tokenizer.path,
    config: config.path,
    tokenizerConfig: tokenizerConfig?.path ?? null,
    fingerprint: all.map(markOf).join(),
  };
}

/** The names of the models whose files are all there. @throws ProviderFailure when the folder cannot be read */
export async function listModels(folder: string | null): Promise<string[]> {
  const root = await rootOf(folder);
  const complete: string[] = [];
  for (const name of (await readdir(root)).sort()) {
    if (complete.length === MAX_LISTED) break;
    const files = await findModelFiles(root, name).catch(() => null);
    if (files !== null) complete.push(name);
  }
  return complete;
}
