import type { Route } from '../http/route.js';
import { filterRoutes } from './filter-routes.js';
import { forwardingRoutes } from './forwarding-routes.js';
import { ipInfoRoutes } from './ip-info-routes.js';
import { keyRoutes } from './key-routes.js';
import { createGatekeeper } from './gatekeeper.js';
import { managementRoutes } from './management-routes.js';
import { passThroughRoutes } from './pass-through-routes.js';
import type { ProxyDeps } from './proxy-deps.js';
import { createPushTraffic } from './push-traffic.js';
import { quarantineRoutes } from './quarantine-routes.js';
import { signalRoutes } from './signal-routes.js';
import { steeringRoutes } from './steering-routes.js';
import { statisticsRoutes } from './statistics-routes.js';
import { createWakers } from './wakers.js';

/** Both sides of the proxy, for a strict router. The pass-through takes what is left of its paths: it comes last. */
export const proxyRoutes = (deps: ProxyDeps): Route[] => {
  const traffic = createPushTraffic();
  const wake = createWakers(deps, traffic);
  const gate = createGatekeeper(deps);
  return [
    ...managementRoutes(deps),
    ...statisticsRoutes(deps),
    ...keyRoutes(deps),
    ...ipInfoRoutes(deps),
    ...forwardingRoutes(deps),
    ...steeringRoutes({ ...deps, wake }),
    ...filterRoutes(deps),
    ...quarantineRoutes({ ...deps, wake }),
    ...signalRoutes({ ...deps, wake, traffic }, gate),
    ...passThroughRoutes({ ...deps, wake }, gate),
  ];
};
