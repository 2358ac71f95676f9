import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { homeFolder } from './home-folder.js';

/** Where the launcher keeps things: what belongs to this clone, and what all clones of a user share. */
export interface Paths {
  /** The clone itself. */
  readonly root: string;
  /** Data, logs and records of this clone; git-ignored, deleted by `npm run reset`. */
  readonly local: string;
  readonly logs: string;
  /** Programs that were downloaded or built; shared by all clones, never deleted by us. */
  readonly cache: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

export function pathsOf(env: NodeJS.ProcessEnv): Paths {
  // A launcher within a network of its own must not take the services outside for its own.
  const local = env['TAMIS_LOCAL_DIR'] || join(root, '.local');
  const cacheHome = env['XDG_CACHE_HOME'] || join(homeFolder(), '.cache');
  return { root, local, logs: join(local, 'log'), cache: join(cacheHome, 'tamis') };
}
