import { afterEach, expect, it } from '@jest/globals';
import { smokeFrontEnd } from '../support/front-end-smoke.js';
import { ADMIN_TOKEN, startGateway } from './support/start-gateway.js';
import type { Gateway } from './support/start-gateway.js';
import { publishTask } from './support/uploads.js';

const ORIGIN = 'https://front.example.org';

let gateway: Gateway;
afterEach(() => gateway.close());

const smoke = (base: string) =>
  smokeFrontEnd({
    ...{ base, token: ADMIN_TOKEN, origin: ORIGIN },
    async settle(url) {
      await publishTask(gateway, url.split('/').at(-1) ?? '', ['one line', 'another']);
    },
  });

it('the indexer front end finds every field it reads', async () => {
  gateway = await startGateway({ env: { CORS_EXTRA_ORIGINS: ORIGIN } });
  await smoke(gateway.url);
});

it('and the smoke notices what a browser would notice', async () => {
  gateway = await startGateway();
  await expect(smoke(gateway.url)).rejects.toThrow(/preflight/);
});
