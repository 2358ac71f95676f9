import type { SignalItem } from '../../../activities/signals/reading/read-signals.js';
import { toNewAlert } from '../../../activities/signals/reading/to-new-alert.js';
import { createLoopShare } from '../../../activities/signals/rules/loop-share.js';
import type { Meter } from '../../../activities/ports/meter.js';
import type { ApiVersion, NewAlert } from '../../../schemas/signals/signals.js';
import type { Logger } from '../../logger.js';
import type { Sender } from './identify-watcher.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { capExpiry } from '../relay/watcher-identity.js';
import type { PushesUnderWay, ForwardingNotifiers } from './notify-forwarding.js';

export type AcceptDeps = Pick<
  ProxyDeps,
  'alerts' | 'watchers' | 'rules' | 'geo' | 'settings' | 'now' | 'meter'
> & {
  notify: ForwardingNotifiers;
  pushesUnderWay: PushesUnderWay;
};

export interface Batch {
  items: readonly SignalItem[];
  version: ApiVersion;
  sender: Sender;
  /** Where the push comes from. */
  address: string;
}

/** `login-wanted`: taken as well, but the sender's token is worn out and it should be told. */
export type Acceptance = 'accepted' | 'deferred' | 'login-wanted';

/**
 * Takes a batch: evaluates the rules for each item, stores all of them durably, and only then tells the actor. Once
 * this has answered nothing of the batch can be lost, whatever CAPI and Temporal do.
 * @throws AppError as the alert store does; then nothing was promised
 */
export function acceptSignals(deps: AcceptDeps, batch: Batch, log: Logger): Promise<Acceptance> {
  return deps.pushesUnderWay.during(() => accept(deps, batch, log));
}

/** A push that brings nothing new is a repeat: its rules were counted before. */
function countStored(meter: Meter, alerts: readonly NewAlert[], fresh: number): void {
  meter.signalsAccepted(fresh);
  if (fresh === 0) return;
  for (const { state, matched = [] } of alerts)
    if (state === 'filtered')
      for (const rule of matched.length === 0 ? [null] : matched) meter.signalFiltered(rule);
}

async function accept(deps: AcceptDeps, batch: Batch, log: Logger): Promise<Acceptance> {
  const { alerts, watchers, settings } = deps;
  const { watcher, token } = batch.sender;
  const { rules, mode, version: ruleSet } = deps.rules.current();
  const receivedAt = deps.now();
  const stored: NewAlert[] = [];
  const share = createLoopShare();
  for (const item of batch.items) {
    stored.push(
      toNewAlert({
        item,
        watcher,
        version: batch.version,
        receivedAt,
        rules,
        mode,
        ruleSet,
        geo: deps.geo,
        forwarding: settings.forwardEnabled,
      }),
    );
    await share();
  }

  /** What serves the sending alone must not cost the signals: a LAPI never offers them again. */
  const orElse = async <T>(work: Promise<T>, otherwise: T, what: string): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      log.error({ err: error, watcher }, what);
      return otherwise;
    }
  };
  // Its record is missing where it could not be admitted in time.
  const newcomer =
    settings.unknownPerAddress === 0
      ? undefined
      : { address: batch.address, at: receivedAt, lifetimeMs: settings.unknownLifetimeMs };
  const notKept = { newer: false, loginWanted: true };
  const keeping =
    token === null
      ? notKept
      : orElse(
          watchers.saveToken(watcher, token.text, capExpiry(token.expiresAt, receivedAt), newcomer),
          notKept,
          'the token of a batch could not be kept',
        );
  const [saved, { stored: fresh, waiting }] = await Promise.all([
    keeping,
    stored.length === 0 ? { stored: 0, waiting: 0 } : alerts.insert(stored),
  ]);
  if (deps.meter !== undefined) countStored(deps.meter, stored, fresh);
  if (settings.forwardEnabled) {
    if (saved.newer) deps.notify.token(watcher, log);
    else if (waiting > 0) deps.notify.signals(watcher, log);
  }

  const loginWanted =
    saved.loginWanted &&
    (await orElse(
      watchers.takeLoginWanted(watcher, deps.now()),
      false,
      'whether a login is wanted could not be asked',
    ));
  if (loginWanted) return 'login-wanted';
  const deferred = !settings.forwardEnabled && stored.some(({ state }) => state === 'withheld');
  return deferred ? 'deferred' : 'accepted';
}
