import { finished } from 'node:stream';
import type Koa from 'koa';
import type { PassThroughAnswer } from './capi-pass-through.js';
import {
  decodeContent,
  canDecode,
  GZIP_ABOVE,
  zipped,
} from '../../../activities/signals/reading/content-encoding.js';
import { aggregateDecisions, expandDecisions, isDecisionStream } from './aggregate-decisions.js';
import type { AggregatedDecisions } from './aggregate-decisions.js';
import type { Logger } from '../../logger.js';
import type { Answer } from '../../http/route.js';
import { createBodyBudget } from '../../http/body-budget.js';
import { collectAside } from './body-taps.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { createDecisionFlows } from './decision-flows.js';
import type { Flow, WholeAnswer } from './decision-flows.js';
import type { StreamRequest } from './stream-request.js';
import { createSerialQueue } from './serial-queue.js';
import { comeBack, createWatcherPlaces } from './watcher-places.js';
import type { AppError } from '../../../schemas/app-error.js';
import { sha256Hex } from '../../../schemas/sha256.js';

/** Of one answer, as it comes and decoded; the community list has a few megabytes. */
const ANSWER_BYTES = 8 * 1024 * 1024;
const DECODED_BYTES = 32 * 1024 * 1024;
/** What one document of the store holds, with room for the rest of it. */
const COPY_BYTES = 15 * 1024 * 1024;
/** Of a copy: many answers add up to more than one. */
const UNPACKED_BYTES = 256 * 1024 * 1024;
/** All answers that are read beside their way to the client; those of one address may have a third of it. */
const ASIDE_BYTES = 96 * 1024 * 1024;
const NO_STREAM = 'the answer is no decision stream';
const TRIES = 5;
const MAX_REST_MS = 500;

function unpack(bytes: Buffer): Promise<Buffer> {
  return decodeContent(bytes, 'gzip', UNPACKED_BYTES);
}

/** Room for answers aside. Who reads slowly, or asks for many, has none left but leaves that of others. */
function createRoomAside() {
  const [ofAll, ofWatchers] = [createBodyBudget(ASIDE_BYTES), createBodyBudget(Infinity, ANSWER_BYTES)];
  return {
    of({ address, sender: { watcher } }: StreamRequest) {
      let held = 0;
      return {
        /** What there is no room in, or null. */
        take(count: number): string | null {
          if (!ofWatchers.has(watcher, count))
            return 'answers of the watcher are too large, or too many at once';
          if (!ofAll.has(address, count)) return 'too many answers of its address, or of all, at once';
          ofWatchers.take(watcher, count);
          ofAll.take(address, count);
          held += count;
          return null;
        },
        release(): void {
          ofWatchers.give(watcher, held);
          ofAll.give(address, held);
          held = 0;
        },
      };
    },
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
  const aside = createRoomAside();
  const flows = createDecisionFlows(copies);
  /**
   * A set of 50,000 decisions holds the event loop for some tenths of a second and takes tens of megabytes, and after a
   * power cut all local API servers ask for theirs within seconds: one set at a time. What waits is packed. Pushes
   * need the event loop as well, also while a watcher asks for its set again and again.
   */
  const [aggregating, serving] = [createSerialQueue(MAX_REST_MS), createSerialQueue()];
  /** Of answers from copies that have not gone out: they are held whole. */
  const places = createWatcherPlaces();

  /**
   * Without a delta that went by, a copy is no longer the full set. A start that did not come whole takes nothing from
   * it: the watcher asks for one until it has it.
   */
  const missed = (flow: Flow, request: StreamRequest, reason: string, log: Logger): Promise<void> =>
    request.startup ? flows.pass(flow, request) : flows.drop(request, reason, log);

  const aggregate = async (
    flow: Flow,
    request: StreamRequest,
    { bytes, encoding, replaces }: Pick<WholeAnswer, 'encoding' | 'replaces'> & { bytes: Buffer },
    log: Logger,
  ): Promise<void> => {
    const { version, startup } = request;
    const { watcher, token } = request.sender;
    const at = now();
    const answer = parsed(await decodeContent(bytes, encoding, DECODED_BYTES));
    if (!isDecisionStream(answer)) {
      if (replaces) return flows.drop(request, NO_STREAM, log);
      // What cannot be read at all, the watcher asks for again.
      return answer === undefined ? flows.pass(flow, request) : missed(flow, request, NO_STREAM, log);
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
        // No set to add to yet, or one that has grown too large.
        if (kept !== null) await flows.drop(request, 'the set is too large', log);
        return;
      }
      const copy = await zipped(Buffer.from(JSON.stringify(after)));
      if (copy.length > COPY_BYTES) return flows.drop(request, 'the set is too large', log);
      if (await flows.write(flow, request, { bytes: copy, at }, kept?.revision ?? 0)) return;
    }
    throw new Error('the copy of the decisions changes too often');
  };

  /** An answer that has come whole. A start makes those before it needless that still wait for their turn. */
  const whole = (flow: Flow, request: StreamRequest, answer: WholeAnswer, log: Logger): void => {
    const work = async (): Promise<void> => {
      flow.waiting.delete(answer);
      const { bytes } = answer;
      if (bytes !== null) await aggregate(flow, request, { ...answer, bytes }, log);
    };
    flows.inTurn(flow, request, () => aggregating(work).finally(answer.release), log);
    if (request.startup)
      for (const earlier of flow.waiting) {
        earlier.bytes = null;
        earlier.release();
        flow.waiting.delete(earlier);
        answer.replaces = true;
      }
    flow.waiting.add(answer);
  };

  return {
    /** The answer's body as it goes to the client; read aside and aggregated afterwards. */
    watch(request: StreamRequest, answer: PassThroughAnswer, log: Logger): PassThroughAnswer['body'] {
      const encoding = [answer.headers['content-encoding']].flat()[0];
      let lack = canDecode(encoding) ? null : 'its encoding is unknown';
      const { take, release } = aside.of(request);
      const { flow, noted } = flows.begin(request, log);
      return collectAside(answer.body, {
        ready: noted,
        hasRoom(count) {
          lack ??= take(count);
          if (lack !== null) release();
          return lack === null;
        },
        onEnd(end) {
          if (typeof end !== 'string') {
            whole(flow, request, { bytes: end, encoding, replaces: false, release }, log);
            return;
          }
          release();
          const then = () =>
            end === 'no room'
              ? flows.drop(request, lack ?? end, log)
              : missed(flow, request, `the answer ${end}`, log);
          flows.inTurn(flow, request, then, log);
        },
      });
    },

    /**
     * While CAPI is down: the copy, with its age, or null when there is none for this token. An error, for the
     * watcher to come back, while others of its answers have not gone out.
     */
    async fromCopy(request: StreamRequest, { req, res }: Koa.Context): Promise<Answer | AppError | null> {
      const { sender, version, startup } = request;
      const { watcher, token } = sender;
      if (token === null || (token.expiresAt !== null && token.expiresAt <= now())) return null;
      if ((await watchers.standing(watcher, sha256Hex(token.text))) !== 'accepted') return null;
      if (!places.take(watcher)) return comeBack();
      finished(res, () => places.give(watcher));
      const served = await serving(async () => {
        const kept = await copies.read(watcher, version);
        if (kept === null || !flows.isCurrent(request, kept)) return null;
        const aggregated = JSON.parse(String(await unpack(kept.bytes))) as AggregatedDecisions;
        const decisions = expandDecisions(aggregated, { startup, at: now().getTime() });
        return { at: kept.at, body: Buffer.from(JSON.stringify(decisions)) };
      });
      if (served === null) return null;
      const { at, body } = served;
      const zip = body.length > GZIP_ABOVE && /\bgzip\b/i.test(req.headers['accept-encoding'] ?? '');
      const seconds = Math.max(0, Math.floor((now().getTime() - at.getTime()) / 1000));
      return {
        status: 200,
        content: { type: 'application/json', data: zip ? await zipped(body) : body },
        headers: {
          ...(zip ? { 'Content-Encoding': 'gzip' } : {}),
          Vary: 'Accept-Encoding',
          Age: String(seconds),
          'X-Tamis-Copy-From': at.toISOString(),
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
