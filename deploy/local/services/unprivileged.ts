import { lchownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../find-program.js';
import { LauncherError } from '../launcher-error.js';
import { openToAll } from '../open-to-all.js';
import type { Launch } from './service.js';

/** "nobody": needs no account to be made. */
const UNPRIVILEGED = 65534;

type Start = Pick<Launch, 'command' | 'args' | 'cwd' | 'env' | 'uid'>;

interface Rights {
  readonly isRoot: boolean;
  chown(path: string, uid: number, gid: number): void;
}

/**
 * How to start a server that refuses to run as root. Another user just starts it; root starts it as nobody, to whom
 * `run` is given. Where a folder above one that it needs is closed to others (a clone or a cache under /root), nobody
 * is lent the one capability to read past it, and still writes only what is its own.
 */
export function asUnprivileged(
  service: string,
  start: Start,
  run: string,
  needed: readonly string[],
  { isRoot, chown }: Rights = { isRoot: process.getuid?.() === 0, chown: lchownSync },
): Start {
  if (!isRoot) return start;
  giveAway(run, chown);
  if (needed.every(openToAll)) return { ...start, uid: UNPRIVILEGED };
  const setpriv = findProgram('setpriv', process.env, ['/usr/bin']);
  if (!setpriv) {
    throw new LauncherError(
      `${service}: it must not run as root, and others cannot reach ${needed.join(' or ')}`,
      {
        advice: [
          'run as a user other than root',
          'or install setpriv (util-linux)',
          'or move the clone to a place open to others, and set XDG_CACHE_HOME to such a place',
        ],
      },
    );
  }
  const identity = [`--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups', '--no-new-privs'];
  const capability = ['--inh-caps', '--ambient-caps', '--bounding-set'].map(
    (set) => `${set}=-all,+dac_read_search`,
  );
  // without this, access(2) checks would still be made as if it had no capability
  const access = '--securebits=+no_setuid_fixup,+no_setuid_fixup_locked';
  return {
    ...start,
    command: setpriv,
    args: [...identity, ...capability, access, start.command, ...start.args],
  };
}

function giveAway(path: string, chown: Rights['chown']): void {
  try {
    chown(path, UNPRIVILEGED, UNPRIVILEGED);
    if (!lstatSync(path).isDirectory()) return;
    for (const name of readdirSync(path)) giveAway(join(path, name), chown);
  } catch (error) {
    // a server that runs already removes files meanwhile
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
