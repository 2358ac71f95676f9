import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Whether `node_modules` holds what the lock file names. npm keeps its own list of what it installed there, written
 * last: an interrupted installation has none. Packages for other platforms may be missing, nothing else.
 *
 * @param {string} root
 * @returns {boolean}
 */
export function lockMatches(root) {
  const wanted = packagesIn(join(root, 'package-lock.json'));
  const installed = packagesIn(join(root, 'node_modules', '.package-lock.json'));
  if (!wanted || !installed) return false;
  for (const [path, { version, integrity, optional }] of Object.entries(wanted)) {
    const there = installed[path];
    if (path === '' || (!there && optional)) continue;
    if (!there || there.version !== version || there.integrity !== integrity) return false;
  }
  return Object.keys(installed).every((path) => path in wanted);
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? null;
  } catch {
    return null;
  }
}
