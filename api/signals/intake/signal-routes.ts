import { readSignals } from '../../../activities/signals/reading/read-signals.js';
import { AppError } from '../../../schemas/app-error.js';
import { RelayMessage, SignalBatch } from '../../../schemas/signals/proxy-api.js';
import { API_VERSIONS } from '../../../schemas/signals/signals.js';
import type { ApiVersion } from '../../../schemas/signals/signals.js';
import type { BodyBudget } from '../../http/body-budget.js';
import { clientOf } from '../../http/client-address.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import { acceptSignals } from './accept-signals.js';
import type { AcceptDeps } from './accept-signals.js';
import type { AccessControl } from './access-control.js';
import { identifyWatcher } from './identify-watcher.js';
import { bearerToken } from '../relay/watcher-identity.js';
import { createPushAdmission } from './push-admission.js';
import type { PushAdmission } from './push-admission.js';
import { createSignalBudget, readSignalBody } from './read-signal-body.js';
import { createUnknownWatcherLimit } from './unknown-watcher-limit.js';
import type { UnknownWatcherLimit } from './unknown-watcher-limit.js';

/** The one door for signals. It answers as soon as they are stored, well inside the five seconds of a LAPI. */
export function signalRoutes(deps: AcceptDeps, access: AccessControl): Route[] {
  const door = {
    access,
    unknownWatchers: createUnknownWatcherLimit(deps),
    admission: createPushAdmission(),
    budget: createSignalBudget(deps.settings.maxSignalBytes),
  };
  return API_VERSIONS.map((version) => signals(deps, door, version));
}

interface Door {
  access: AccessControl;
  unknownWatchers: UnknownWatcherLimit;
  admission: PushAdmission;
  budget: BodyBudget;
}

function signals(
  deps: AcceptDeps,
  { access, unknownWatchers, admission, budget }: Door,
  version: ApiVersion,
): Route {
  return route({
    method: 'post',
    path: `/${version}/signals`,
    summary: 'Takes a batch of signals: filtered, stored, and forwarded afterwards',
    tag: 'Proxy relay',
    auth: { token: 'capi' },
    request: { ownBody: SignalBatch },
    responses: { 200: { description: 'Everything is stored', schema: RelayMessage } },
    errors: [
      'BAD_REQUEST',
      'AUTHENTICATION_ERROR',
      'AUTH_ERROR',
      'PAYLOAD_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      'RATE_LIMITED',
      'SERVICE_UNAVAILABLE',
    ],
    async handle(ctx) {
      const { koa, log } = ctx;
      const started = performance.now();
      access.admitNetwork(ctx);
      // What can never be sent is not stored: told so, a LAPI logs in and offers it again.
      if (bearerToken(koa.req.headers.authorization) === null) {
        koa.req.resume();
        throw new AppError('AUTHENTICATION_ERROR', 'Unauthorized', {
          details: { message: 'Signals need a token of the central API; nothing of this request is stored' },
        });
      }
      const address = clientOf(koa);
      admission.ask(address);
      const text = await readSignalBody(koa, { limit: deps.settings.maxSignalBytes, budget });
      const { items } = await admission.read(address, () => readSignals(text));
      const sender = await identifyWatcher(koa.req.headers.authorization, deps.watchers);
      access.admitWatcher(sender.watcher);
      // The central API's time for an unknown token is not ours, and takes no place of others.
      await access.validate(ctx, sender, version);
      await unknownWatchers.admit(ctx, sender.watcher);
      const store = () => acceptSignals(deps, { items, version, sender, address }, log);
      const acceptance = await admission.store(address, store);
      deps.meter?.pushTook((performance.now() - started) / 1000);
      if (acceptance === 'login-wanted') throw loginWanted();
      return json(200, {
        message: acceptance === 'deferred' ? 'OK (forwarding disabled)' : 'OK',
      });
    },
  });
}

/** Sent once, after the batch is stored: only this answer makes a LAPI log in again. */
function loginWanted(): AppError {
  return new AppError('AUTHENTICATION_ERROR', 'Unauthorized', {
    details: {
      message: 'The central API refused this token, log in again; the signals of this request are stored',
    },
  });
}
