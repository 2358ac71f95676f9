import { askProgram } from './ask-program.js';
import { findProgram } from './find-program.js';
import { LauncherError } from './launcher-error.js';

const OLDEST = [1, 25] as const;

/**
 * A Go that can build what we build.
 * @param advice what else helps where there is none
 */
export async function findGo(subject: string, advice: readonly string[]): Promise<string> {
  const path = findProgram('go', process.env, ['/usr/local/go/bin', '/usr/lib/go/bin', '/opt/homebrew/bin']);
  const version = path && /go(\d+)\.(\d+)/.exec((await askProgram(path, ['version'])) ?? '');
  const [major, minor] = [Number(version?.[1]), Number(version?.[2])];
  if (path && (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]))) return path;
  const found = version ? `only Go ${major}.${minor} was found` : 'no Go was found';
  throw new LauncherError(`${subject}: it cannot be downloaded here, and to build it ${found}`, {
    advice: [`install Go ${OLDEST.join('.')} or newer (go.dev/dl)`, ...advice],
  });
}
