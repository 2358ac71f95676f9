import type { IncomingMessage } from 'node:http';
import type { PassThroughAnswer } from './capi-pass-through.js';
import {
  decodeContent,
  canDecode,
  GZIP_ABOVE,
  zipped,
} from '../../../activities/signals/reading/content-encoding.js';
import { aggregateDecisions, expandDecisions, isDecisionStream } from './aggregate-decisions.js';
import type { AggregatedDecisions } from './aggregate-decisions.js';
import type { ApiVersion } from '../../../schemas/signals/signals.js';
import type { Logger } from '../../logger.js';
import type { Answer } from '../../http/route.js';
import { collectAside } from './body-taps.js';
import type { Sender } from '../intake/identify-watcher.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { sha256Hex } from '../../../schemas/sha256.js';

/** Of one answer, as it comes and decoded; the community list has a few megabytes. */
const ANSWER_BYTES = 8 * 1024 * 1024;
const DECODED_BYTES = 32 * 1024 * 1024;
/** What one document of the store holds, with room for the rest of it. */
const COPY_BYTES = 15 * 1024 * 1024;
/** Of a copy: many answers add up to more than one. */
const UNPACKED_BYTES = 256 * 1024 * 1024;
/** All answers that are being read beside their way to the client. */
const ASIDE_BYTES = 64 * 1024 * 1024;
const TRIES = 5;

function unpack(bytes: Buffer): Promise<Buffer> {
  return decodeContent(bytes, 'gzip', UNPACKED_BYTES);
}

export interface StreamRequest {
  version: ApiVersion;
  startup: boolean;
  sender: Sender;
}

/** What a target asks of the decision stream; null for another target. */
export function streamRequest(method: string, target: string): Omit<StreamRequest, 'sender'> | null {
  const [, version, query] = /^\/(v[23])\/decisions\/stream\/?(?:\?(.*))?$/.exec(target) ?? [];
  if (method !== 'GET' || version === undefined) return null;
  const startup = new URLSearchParams(query ?? '').get('startup') === 'true';
  return { version: version as ApiVersion, startup };
}

/** Runs what it is given one after the other. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}

/**
 * The decision stream of each watcher, aggregated as it passes by and served from that copy while CAPI is down, to a
 * token that CAPI accepted before and to no other.
 */
export function createDecisionCache({
  watchers,
  copies,
  now,
}: Pick<ProxyDeps, 'watchers' | 'copies' | 'now'>) {
  let aside = 0;
  /** Answers of one watcher are aggregated one after the other: each builds on the set before. */
  const underWay = new Map<string, Promise<void>>();
  /**
   * A set of 50,000 decisions holds the event loop for some tenths of a second and takes tens of megabytes, and after a
   * power cut all local API servers ask for theirs within seconds: one set at a time. What waits is packed.
   */
  const [aggregating, serving] = [createTurns(), createTurns()];

  /**
   * Without a delta that went by, a copy is no longer the full set. A start that did not come whole takes nothing from
   * it: the watcher asks for one until it has it.
   */
  const missed = async (watcher: string, version: ApiVersion, startup: boolean): Promise<void> => {
    if (!startup) await copies.drop(watcher, version);
  };

  const aggregate = async (
    { version, startup, sender }: StreamRequest,
    bytes: Buffer,
    encoding: string | undefined,
  ) => {
    const { watcher, token } = sender;
    const at = now();
    const answer = parsed(await decodeContent(bytes, encoding, DECODED_BYTES));
    if (!isDecisionStream(answer)) {
      if (answer !== undefined) await missed(watcher, version, startup);
      return;
    }
    if (token !== null) await watchers.acceptToken(watcher, sha256Hex(token.text));
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const kept = await copies.read(watcher, version);
      const before =
        kept === null || startup
          ? null
          : (JSON.parse(String(await unpack(kept.bytes))) as AggregatedDecisions);
      const after = aggregateDecisions(before, answer, { version, startup, at: at.getTime() });
      if (after === null) {
        // No set to add to yet, or too large a set.
        if (kept !== null) await copies.drop(watcher, version);
        return;
      }
      const copy = await zipped(Buffer.from(JSON.stringify(after)));
      if (copy.length > COPY_BYTES) {
        await copies.drop(watcher, version);
        return;
      }
      if (await copies.write(watcher, version, { bytes: copy, at }, kept?.revision ?? 0)) return;
    }
    throw new Error('the copy of the decisions changes too often');
  };

  const inTurn = (request: StreamRequest, work: () => Promise<void>, log: Logger): void => {
    const key = `${request.version}/${request.sender.watcher}`;
    const mine = (underWay.get(key) ?? Promise.resolve()).then(work).catch(async (error: unknown) => {
      log.warn({ err: error, watcher: request.sender.watcher }, 'a decision stream could not be kept');
      // A delta is missing: what is left is no longer the full set.
      await copies.drop(request.sender.watcher, request.version).catch(() => undefined);
    });
    underWay.set(key, mine);
    void mine.then(() => underWay.get(key) === mine && underWay.delete(key));
  };

  return {
    /** The answer's body as it goes to the client; read aside and aggregated afterwards. */
    watch(request: StreamRequest, answer: PassThroughAnswer, log: Logger): PassThroughAnswer['body'] {
      const encoding = [answer.headers['content-encoding']].flat()[0];
      const drop = (): void =>
        inTurn(request, () => copies.drop(request.sender.watcher, request.version), log);
      if (!canDecode(encoding) || aside >= ASIDE_BYTES) {
        drop();
        return answer.body;
      }
      let held = 0;
      return collectAside(answer.body, {
        limit: ANSWER_BYTES,
        onBytes: (count) => {
          held += count;
          aside += count;
        },
        onEnd(end) {
          const release = (): void => void (aside -= held);
          if (typeof end !== 'string') {
            inTurn(request, () => aggregating(() => aggregate(request, end, encoding)).finally(release), log);
            return;
          }
          release();
          if (end === 'too large') drop();
          else inTurn(request, () => missed(request.sender.watcher, request.version, request.startup), log);
        },
      });
    },

    /** While CAPI is down: the copy, with its age, or null when there is none for this token. */
    async fromCopy(request: StreamRequest, req: IncomingMessage): Promise<Answer | null> {
      const { sender, version, startup } = request;
      const { watcher, token } = sender;
      if (token === null || (token.expiresAt !== null && token.expiresAt <= now())) return null;
      if ((await watchers.standing(watcher, sha256Hex(token.text))) !== 'accepted') return null;
      const kept = await copies.read(watcher, version);
      if (kept === null) return null;
      const body = await serving(async () => {
        const aggregated = JSON.parse(String(await unpack(kept.bytes))) as AggregatedDecisions;
        return Buffer.from(JSON.stringify(expandDecisions(aggregated, { startup, at: now().getTime() })));
      });
      const zip = body.length > GZIP_ABOVE && /\bgzip\b/i.test(req.headers['accept-encoding'] ?? '');
      const seconds = Math.max(0, Math.floor((now().getTime() - kept.at.getTime()) / 1000));
      return {
        status: 200,
        content: { type: 'application/json', data: zip ? await zipped(body) : body },
        headers: {
          ...(zip ? { 'Content-Encoding': 'gzip' } : {}),
          Vary: 'Accept-Encoding',
          Age: String(seconds),
          'X-Tamis-Copy-From': kept.at.toISOString(),
        },
      };
    },
  };
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
