import { z } from 'zod';
import { MAX_RETENTION_DAYS } from '../retention-api.js';
import { instant } from './instant.js';
import type { Alert as AlertRecord } from './signals.js';

/**
 * Request and answer bodies of the proxy's management side, as `/openapi.json` shows them. The messages complete
 * `<where>/<name> …`, the wording of the peer service (wire contract, 1.3).
 */

/** What both sides of the proxy answer to a request that fails. */
export const ManagementError = z.object({ error: z.string() }).meta({ id: 'ManagementError' });
export const RelayError = z
  .object({ error: z.string(), message: z.string() })
  .meta({ id: 'RelayError', description: 'A local API server logs `message`' });

export const LivenessBody = z
  .object({ status: z.literal('ok'), timestamp: z.iso.datetime() })
  .meta({ id: 'LivenessBody' });

const integer = z.int().nullable();
const text = z.string().nullable();
const flag = z.boolean().nullable();
const number = z.number().nullable();

/** The 41 fields, always all of them. */
export const Alert = z
  .object({
    id: z.int(),
    uuid: text,
    machineId: text,
    scenario: z.string(),
    scenarioHash: text,
    scenarioVersion: text,
    message: text,
    eventsCount: integer,
    capacity: integer,
    leakspeed: text,
    startAt: text,
    stopAt: text,
    createdAt: text,
    receivedAt: z.string(),
    simulated: flag,
    remediation: flag,
    hasDecisions: flag,
    replicated: flag,
    sourceScope: text,
    sourceValue: text,
    sourceIp: text,
    sourceRange: text,
    sourceAsNumber: text,
    sourceAsName: text,
    sourceCn: text,
    geoCountryCode: text,
    geoCountryName: text,
    geoCity: text,
    geoRegion: text,
    geoLatitude: number,
    geoLongitude: number,
    geoTimezone: text,
    geoIsp: text,
    geoOrg: text,
    filtered: flag,
    filterReasons: text.meta({ description: 'A JSON array of reasons; null when no rule matched' }),
    forwardedToCapi: flag.meta({ description: 'Only after CAPI answered 2xx' }),
    forwardedAt: text,
    localAudit: flag,
    actor: text,
    rawJson: text.meta({ description: 'The signal as it was received' }),
  })
  .meta({ id: 'Alert' }) satisfies z.ZodType<AlertRecord>;

/** As the peer service reads numbers in a query: whatever JavaScript takes for one, but not nothing. */
function wholeNumber({ min, max = Infinity }: { min: number; max?: number }) {
  return z.string('must be integer').transform((given, { issues }) => {
    const value = given === '' ? NaN : Number(given);
    const fault = !Number.isInteger(value)
      ? 'must be integer'
      : value < min
        ? `must be >= ${min}`
        : value > max
          ? `must be <= ${max}`
          : null;
    if (fault !== null) issues.push({ code: 'custom', message: fault, input: given });
    return value;
  });
}

const boolean = z
  .enum(['true', 'false'], 'must be boolean')
  .transform((given) => given === 'true')
  .meta({ override: { type: 'boolean' } });

/** RFC 3339 with a time and a zone; a blank may stand for the T. */
const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[Tt\s](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):?(\d\d)?)$/;

function instantOf(given: string): Date | null {
  const parts = DATE_TIME.exec(given);
  if (parts === null) return null;
  const part = (index: number): number => Number(parts[index] ?? 0);
  const offset = part(9) * 60 + part(10);
  if (part(4) > 23 || part(5) > 59 || part(6) > 60 || part(9) > 23 || part(10) > 59) return null;
  const local = new Date(0);
  // Not `Date.UTC`, which takes the years 0 to 99 for 1900 to 1999.
  local.setUTCFullYear(part(1), part(2) - 1, part(3));
  if (local.getUTCMonth() !== part(2) - 1 || local.getUTCDate() !== part(3)) return null;
  local.setUTCHours(part(4), part(5), part(6), Math.floor(Number(`0.${parts[7] ?? 0}`) * 1000));
  return new Date(local.getTime() - (parts[8] === '-' ? -offset : offset) * 60_000);
}

export const dateTime = z
  .string('must match format "date-time"')
  .transform((given, { issues }) => {
    const instant = instantOf(given);
    if (instant === null)
      issues.push({ code: 'custom', message: 'must match format "date-time"', input: given });
    return instant ?? new Date(0);
  })
  .meta({ override: { type: 'string', format: 'date-time' } });

const COUNTRY = /^[A-Z]{2}$/;
const MACHINE_ID = /^[a-zA-Z0-9_\-.:]+$/;

/** Which part of a list is asked for. */
export const pageFilters = {
  limit: wholeNumber({ min: 1, max: 1000 })
    .meta({ override: { type: 'integer', minimum: 1, maximum: 1000 } })
    .default(100),
  offset: wholeNumber({ min: 0 })
    .meta({ override: { type: 'integer', minimum: 0 } })
    .default(0),
};

export const retentionDays = wholeNumber({ min: 1, max: MAX_RETENTION_DAYS })
  .meta({ override: { type: 'integer', minimum: 1, maximum: MAX_RETENTION_DAYS } })
  .optional();

/** Filters of GET /api/alerts. Addresses and the range of the dates are looked at afterwards. */
export const AlertFilters = z.object({
  ...pageFilters,
  filtered: boolean.optional(),
  forwardedToCapi: boolean.optional(),
  scenario: z
    .string('must be string')
    .max(200, 'must NOT have more than 200 characters')
    .meta({ description: 'Part of the scenario, in any case' })
    .optional(),
  country: z.string('must be string').regex(COUNTRY, `must match pattern "${COUNTRY.source}"`).optional(),
  machineId: z
    .string('must be string')
    .max(255, 'must NOT have more than 255 characters')
    .regex(MACHINE_ID, `must match pattern "${MACHINE_ID.source}"`)
    .meta({ description: 'The log processor that the signal names' })
    .optional(),
  ip: z.string('must be string').meta({ description: 'Address of the source' }).optional(),
  since: dateTime.optional(),
  until: dateTime.optional(),
  newerThan: dateTime.optional(),
});
export type AlertFilters = z.output<typeof AlertFilters>;

export const AlertParams = z.object({
  id: wholeNumber({ min: 1 }).meta({ override: { type: 'integer', minimum: 1 } }),
});

export const LapiServer = z
  .object({
    name: z.string(),
    url: z.string(),
    canBan: z.boolean().meta({ description: 'Whether we hold credentials to post decisions there' }),
  })
  .meta({ id: 'LapiServer' });

/** How one watcher's signals fare. */
export const ForwardingWatcher = z
  .object({
    watcher: z.string(),
    waiting: z.int(),
    oldest: instant.meta({ description: 'When the oldest waiting signal was received' }),
    canBeSent: z.boolean().meta({
      description:
        'False: what waits came without a token that tells a watcher, and there is none to send it with; it can be discarded',
    }),
    quarantined: z
      .int()
      .meta({ description: 'Signals that CAPI refuses for good, or without a usable shape' }),
    lastQuarantined: z.object({ id: z.int(), reason: z.string() }).nullable(),
    deferred: z.int().meta({
      description:
        'Signals that came while forwarding was switched off, or waited when a backup was made that was restored since (CAPI may have ' +
        'them already); they can be released',
    }),
    withheld: z.int().meta({
      description:
        'Signals that another local API server replicated: the loop guard holds them back, and none is released',
    }),
    discarded: z.int().meta({ description: 'Signals that an operator gave up' }),
    lastDiscarded: z.object({ id: z.int(), reason: z.string() }).nullable(),
    lastSuccess: instant,
    lastError: z
      .object({ at: z.string(), cause: z.string(), status: z.int().nullable(), message: z.string() })
      .nullable(),
    nextAttempt: instant,
    hasToken: z.boolean(),
    tokenExpiresAt: instant,
    loginWanted: z.boolean().meta({
      description:
        'Its next signals request is answered 401 once, and a minute later again, until it has logged in',
    }),
    pausedSince: instant.meta({ description: 'Held back by an operator' }),
    metricsHeld: z.int().meta({ description: 'Bodies of metrics that wait for CAPI' }),
    metricsRefused: z.int(),
  })
  .meta({ id: 'ForwardingWatcher' });
export type ForwardingWatcher = z.output<typeof ForwardingWatcher>;

export const ForwardingBody = z
  .object({
    enabled: z.boolean(),
    withheld: z
      .object({
        filtered: z.int().meta({ description: 'By a rule' }),
        deferred: z.int(),
        withheld: z.int(),
        discarded: z.int(),
        waiting: z.int(),
        quarantined: z.int(),
      })
      .meta({ description: 'Stored signals that have not been forwarded, of all watchers' }),
    watchers: z.array(ForwardingWatcher),
    logins: z.object({
      budget: z.int().meta({ description: 'Logins that may go to CAPI within the window; 0: any number' }),
      windowMinutes: z.number(),
      used: z.int(),
      blocks: z
        .array(
          z.object({
            watcher: z.string().nullable().meta({ description: 'null: all of them' }),
            status: z.int(),
            message: z.string(),
            at: z.string(),
            until: z.string(),
          }),
        )
        .meta({ description: 'Logins that CAPI refused and that are not passed on for a while' }),
      refused: z
        .array(
          z.object({
            watcher: z.string().meta({ description: 'As the login named itself' }),
            status: z.int(),
            message: z.string(),
            at: z.string(),
          }),
        )
        .meta({
          description:
            'The last login of each watcher that was refused, by CAPI or here, and that has not been let in since; of the last day, the latest first',
        }),
    }),
    rules: z.object({
      mode: z.enum(['block', 'allow']),
      names: z.array(z.string()).meta({ description: 'The rules in force, in their order' }),
      faults: z.array(z.object({ file: z.string(), message: z.string() })),
    }),
  })
  .meta({ id: 'ForwardingBody' });

/** What a local API server pushes; unknown fields travel along. Documentation: each item is looked at on its own. */
export const SignalBatch = z
  .array(
    z.looseObject({
      scenario: z.string(),
      source: z.looseObject({ scope: z.string().optional(), value: z.string().optional() }),
      uuid: z.string().optional(),
      machine_id: z.string().optional(),
      message: z.string().optional(),
      start_at: z.string().optional(),
      stop_at: z.string().optional(),
    }),
  )
  .max(1000)
  .meta({ id: 'SignalBatch' });

export const RelayMessage = z.object({ message: z.string() }).meta({ id: 'RelayMessage' });
