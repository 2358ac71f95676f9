import type { Route } from '../http/route.js';
import { ruleRoutes } from './rules/rule-routes.js';
import { savedRuleRoutes } from './rules/saved-rule-routes.js';
import { forwardingRoutes } from './management/forwarding-routes.js';
import { ipInfoRoutes } from './management/ip-info-routes.js';
import { keyRoutes } from './management/key-routes.js';
import { createAccessControl } from './intake/access-control.js';
import { alertRoutes } from './management/alert-routes.js';
import { passThroughRoutes } from './relay/pass-through-routes.js';
import type { ProxyDeps } from './proxy-deps.js';
import { trackPushes, createForwardingNotifiers } from './intake/notify-forwarding.js';
import { quarantineRoutes } from './management/quarantine-routes.js';
import { retentionRoutes } from './management/retention-routes.js';
import { signalRoutes } from './intake/signal-routes.js';
import { watcherRoutes } from './management/watcher-routes.js';
import { statisticsRoutes } from './management/statistics-routes.js';

/** Both sides of the proxy, for a strict router. The pass-through takes what is left of its paths: it comes last. */
export function proxyRoutes(deps: ProxyDeps): Route[] {
  const pushesUnderWay = trackPushes();
  const notify = createForwardingNotifiers(deps, pushesUnderWay);
  const access = createAccessControl(deps);
  return [
    ...alertRoutes(deps),
    ...statisticsRoutes(deps),
    ...keyRoutes(deps),
    ...ipInfoRoutes(deps),
    ...forwardingRoutes(deps),
    ...watcherRoutes({ ...deps, notify }),
    ...ruleRoutes(deps),
    ...savedRuleRoutes(deps),
    ...quarantineRoutes({ ...deps, notify }),
    ...retentionRoutes(deps),
    ...signalRoutes({ ...deps, notify, pushesUnderWay }, access),
    ...passThroughRoutes({ ...deps, notify }, access),
  ];
}
