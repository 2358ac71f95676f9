import { writeFileSync } from 'node:fs';
import { allRoutes } from '../api/app.js';
import type { AppDeps } from '../api/app.js';
import { openApiDocument } from '../api/http/openapi.js';
import { parseConfig } from '../schemas/config/config.js';

/** Answers whatever is read or called with itself: describing routes asks nothing of what they work with. */
const standIn: object = new Proxy(() => standIn, {
  get: (_target, key) => (key === Symbol.toPrimitive ? () => 0 : standIn),
});

const config = parseConfig({ AUTH_TOKEN: 'or-0123456789abcdef0123456789abcdef' });
const deps = {
  config,
  adapters: standIn,
  workflows: standIn,
  search: standIn,
  chat: standIn,
  tools: standIn,
  proxy: { settings: { ...config.proxy, lapiServers: [] } },
} as unknown as AppDeps;

const [, , file = 'openapi.json'] = process.argv;
writeFileSync(file, JSON.stringify(openApiDocument(allRoutes(deps))));
