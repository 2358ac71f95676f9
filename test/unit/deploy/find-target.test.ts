import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { findTarget } from '../../../deploy/cli/tamis/find-target.js';
import { temporaryFolder } from './temporary-folder.js';

const GATEWAY = 'http://127.0.0.1:8080';
const PROXY = 'http://127.0.0.1:8081';

let env: NodeJS.ProcessEnv;
beforeEach(() => {
  env = { TAMIS_LOCAL_DIR: temporaryFolder() };
});

/** As while `npm start` runs. */
function runs(endpoints: object): void {
  const told = { auth_token: 'own token', dashboard_key: 'own key', ...endpoints };
  writeFileSync(join(env['TAMIS_LOCAL_DIR']!, 'endpoints.json'), JSON.stringify(told));
}

describe('the address of the proxy', () => {
  test('is that of the gateway, unless it is told', () => {
    expect(findTarget({ url: `${GATEWAY}/` }, env)).toMatchObject({ url: GATEWAY, proxyUrl: GATEWAY });
    expect(findTarget({ url: GATEWAY, proxyUrl: `${PROXY}/` }, env)).toMatchObject({ proxyUrl: PROXY });
    const told = { ...env, TAMIS_URL: GATEWAY, TAMIS_PROXY_URL: PROXY };
    expect(findTarget({}, told)).toMatchObject({ url: GATEWAY, proxyUrl: PROXY });
    expect(findTarget({ proxyUrl: PROXY }, env)).toMatchObject({ url: PROXY, proxyUrl: PROXY });
  });

  test('is the one that runs in the clone, beside its own gateway alone', () => {
    runs({ gateway: GATEWAY, proxy: PROXY });
    const own = { token: 'own token', key: 'own key' };
    expect(findTarget({}, env)).toEqual({ url: GATEWAY, proxyUrl: PROXY, ...own });
    const other = 'https://other.example';
    expect(findTarget({ url: other }, env)).toEqual({
      url: other,
      proxyUrl: other,
      token: null,
      key: null,
    });
    runs({ gateway: GATEWAY });
    expect(findTarget({}, env)).toEqual({ url: GATEWAY, proxyUrl: GATEWAY, ...own });
  });

  test("gets the clone's key where it is the clone's", () => {
    runs({ gateway: GATEWAY, proxy: PROXY });
    const other = 'https://other.example';
    expect(findTarget({ proxyUrl: other }, env)).toMatchObject({ token: 'own token', key: null });
    expect(findTarget({ proxyUrl: PROXY }, env).key).toBe('own key');
  });
});
