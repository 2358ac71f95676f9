import { askProgram } from './ask-program.js';
import { findProgram } from './find-program.js';
import { LauncherError } from './launcher-error.js';

const OLDEST = [1, 25] as const;

export const GO_NEEDED = `Go ${OLDEST.join('.')} or newer`;

/** A Go that can build what we build; null: there is none. */
export async function lookForGo(): Promise<string | null> {
  const { path, isNewEnough } = await searchGo();
  return isNewEnough ? path : null;
}

/**
 * A Go that can build what we build.
 * @param advice what else helps where there is none
 */
export async function findGo(subject: string, advice: readonly string[]): Promise<string> {
  const { path, version, isNewEnough } = await searchGo();
  if (path !== null && isNewEnough) return path;
  const found = version === null ? 'no Go was found' : `only Go ${version} was found`;
  throw new LauncherError(`${subject}: it cannot be downloaded here, and to build it ${found}`, {
    advice: [`install ${GO_NEEDED} (go.dev/dl)`, ...advice],
  });
}

async function searchGo(): Promise<{ path: string | null; version: string | null; isNewEnough: boolean }> {
  const path = findProgram('go', process.env, ['/usr/local/go/bin', '/usr/lib/go/bin', '/opt/homebrew/bin']);
  const parts = path && /go(\d+)\.(\d+)/.exec((await askProgram(path, ['version'])) ?? '');
  if (!parts) return { path, version: null, isNewEnough: false };
  const [major, minor] = [Number(parts[1]), Number(parts[2])];
  const isNewEnough = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  return { path, version: `${major}.${minor}`, isNewEnough };
}
