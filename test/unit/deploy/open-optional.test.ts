import { describe, expect, test } from '@jest/globals';
import { LauncherError } from '../../../deploy/local/launcher-error.js';
import { openOptional } from '../../../deploy/local/open-optional.js';
import type { Service } from '../../../deploy/local/services/service.js';
import { temporaryFolder } from './temporary-folder.js';
import { testBench } from './test-bench.js';

/** A service that is nowhere; `build` says what obtaining it comes to. */
function service(obtains: boolean, build: () => Promise<never>): Service {
  return {
    name: 'redis',
    variable: 'REDIS_URL',
    ports: [0],
    optional: { obtains, without: 'goes without' },
    find: async () => null,
    kept: async () => null,
    download: async () => null,
    build,
    launch: async () => {
      throw new Error('nothing to launch');
    },
    addresses: () => ({ redis: 'redis://127.0.0.1:1' }),
    ready: async () => false,
  };
}

async function refuses(): Promise<never> {
  throw new LauncherError('redis: none was found', { advice: [] });
}

function noProcess(): void {
  throw new Error('no process was expected');
}

describe('a service that can be done without', () => {
  test('is not obtained unasked when that takes long, and it is said', async () => {
    const bench = testBench(temporaryFolder());
    const opened = await openOptional(
      bench,
      service(false, () => {
        throw new Error('was built');
      }),
      noProcess,
    );
    expect(opened).toBeNull();
    expect(bench.said.join('\n')).toContain('goes without');
  });

  test('is gone without when it cannot be had, with the reason', async () => {
    const bench = testBench(temporaryFolder());
    expect(await openOptional(bench, service(true, refuses), noProcess)).toBeNull();
    expect(bench.said.join('\n')).toContain('redis: none was found; goes without');
  });

  test('is the one that the user named, and nothing is looked for', async () => {
    const bench = { ...testBench(temporaryFolder()), settings: { REDIS_URL: 'redis://mine:1' } };
    const named = { ...service(true, refuses), ready: async () => true };
    expect(await openOptional(bench, named, noProcess)).toBe('redis://mine:1');
  });

  test('hides neither Ctrl-C nor a fault of ours', async () => {
    const stop = new AbortController();
    const bench = testBench(temporaryFolder(), stop.signal);
    const interrupted = async (): Promise<never> => {
      stop.abort(new DOMException('stopped', 'AbortError'));
      return refuses();
    };
    await expect(openOptional(bench, service(true, interrupted), noProcess)).rejects.toThrow('stopped');
    const broken = async (): Promise<never> => {
      throw new TypeError('a fault');
    };
    await expect(
      openOptional(testBench(temporaryFolder()), service(true, broken), noProcess),
    ).rejects.toThrow('a fault');
  });
});
