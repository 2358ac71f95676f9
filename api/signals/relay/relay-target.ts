import { AppError } from '../../../schemas/app-error.js';

/** As the other end might read it: escapes undone, backslashes as slashes, no slash twice. */
function steps(path: string): string[] {
  return path
    .replaceAll(/%([0-9a-f]{2})/gi, (_escape, digits: string) => String.fromCharCode(parseInt(digits, 16)))
    .split(/[/\\]+/)
    .filter((step) => step !== '');
}

/** What we decide on, and how CAPI's clients spell it (wire contract, 6.2). */
const DECIDED: ReadonlyMap<string, string> = new Map([
  ['watchers/login', 'watchers/login'],
  ['metrics', 'metrics/'],
  ['usage-metrics', 'usage-metrics'],
  ['decisions/stream', 'decisions/stream'],
]);

/**
 * The path and query to ask CAPI for: what the client sent, byte for byte, once it is certain that it stays under
 * its version and is no other spelling of `/signals`, which must not get past the rules. Any spelling of another path
 * that we decide on becomes the one that CAPI's clients use, so that ours is the path that CAPI sees.
 * @throws AppError BAD_REQUEST for a target in absolute form or with dot steps, NOT_FOUND for the signals path
 */
export function relayTarget(target: string): string {
  const [path = ''] = target.split('?', 1);
  const [version = '', ...rest] = steps(path);
  const climbs = rest.some((step) => step === '.' || step === '..');
  if (!/^\/v[23]\//.test(path) || !/^v[23]$/.test(version) || climbs)
    throw new AppError('BAD_REQUEST', 'Invalid request target');
  // A parameter behind `;` belongs to no other path.
  const [first = '', ...more] = rest.map((step) =>
    step
      .replace(/;[^]*$/, '')
      .trim()
      .toLowerCase(),
  );
  if (first === 'signals' && more.every((step) => step === '')) throw new AppError('NOT_FOUND', 'Not Found');
  const known = DECIDED.get([first, ...more].filter((step) => step !== '').join('/'));
  if (known === undefined || path.slice(1).replace(/\/$/, '') === `${version}/${known.replace(/\/$/, '')}`)
    return target;
  return `/${version}/${known}${target.slice(path.length)}`;
}

/** Whether a target is the login of a watcher, whose answer carries its newest token. */
export function isLogin(method: string, target: string): boolean {
  return method === 'POST' && /^\/v[23]\/watchers\/login\/?(\?|$)/.test(target);
}

const NOT_IMPLEMENTED = 501;

/** Whether an answer means that CAPI, or what stands in front of it, is down: any 5xx but the one about the path. */
export function isDown(status: number): boolean {
  return status >= 500 && status !== NOT_IMPLEMENTED;
}
