import type { DecisionCopyStore } from '../../../activities/ports/signals.js';
import type { Logger } from '../../logger.js';
import { withinTimeout } from '../intake/within-timeout.js';
import type { StreamRequest } from './stream-request.js';
import { createSerialQueue } from './serial-queue.js';
import type { SerialQueue } from './serial-queue.js';

/** Until a copy that could not be dropped is tried again. */
const RETRY_MS = 2000;

/** Answers to one watcher on one version; each builds on the set before, so they are aggregated in their order. */
export interface Flow {
  inOrder: SerialQueue;
  /** For what says whether the copy is behind: with each, answers under way are counted anew. */
  storing: SerialQueue;
  /** Answers that are on their way to the watcher, are aggregated, or wait for it. */
  left: number;
  /** Have come whole, and their turn has not begun. */
  waiting: Set<WholeAnswer>;
}

export interface WholeAnswer {
  /** Null: a later start has taken its place. */
  bytes: Buffer | null;
  encoding: string | undefined;
  /** A start that took the place of others: they went to the watcher, and are in no copy without it. */
  replaces: boolean;
  release(): void;
}

/**
 * Sees to it that no copy is used which lacks an answer that its watcher has. While one is under way the copy is noted
 * as behind in the store: it stays so when this process ends. Where the store does not answer, the copy is dropped as
 * soon as it does.
 */
export function createDecisionFlows(copies: DecisionCopyStore) {
  const flows = new Map<string, Flow>();
  /** Copies that are to be dropped, with the time of the next try; null while it runs. */
  const lost = new Map<string, NodeJS.Timeout | null>();

  const drop = async (request: StreamRequest, reason: string, log: Logger): Promise<void> => {
    const { version, sender } = request;
    log.info({ watcher: sender.watcher, version, reason }, 'the copy of a decision stream is dropped');
    await copies.drop(sender.watcher, version);
    clearTimeout(lost.get(keyOf(request)) ?? undefined);
    lost.delete(keyOf(request));
  };

  const join = (request: StreamRequest): Flow => {
    const key = keyOf(request);
    const flow = flows.get(key) ?? {
      inOrder: createSerialQueue(),
      storing: createSerialQueue(),
      left: 0,
      waiting: new Set(),
    };
    flows.set(key, flow);
    flow.left += 1;
    return flow;
  };

  const lose = (request: StreamRequest, log: Logger): void => {
    const key = keyOf(request);
    if ((lost.get(key) ?? null) !== null) return;
    const again = (): void => {
      lost.set(key, null);
      inTurn(join(request), request, () => Promise.resolve(), log);
    };
    lost.set(key, setTimeout(again, RETRY_MS).unref());
  };

  const inTurn = (flow: Flow, request: StreamRequest, work: () => Promise<void>, log: Logger): void => {
    const key = keyOf(request);
    void flow.inOrder(async () => {
      try {
        if (lost.has(key)) await drop(request, MISSED, log);
        await work();
      } catch (error) {
        log.warn({ err: error, watcher: request.sender.watcher }, 'a decision stream could not be kept');
        // A delta is missing: what is left is no longer the full set.
        await drop(request, 'an answer could not be kept', log).catch(() => lose(request, log));
      }
      flow.left -= 1;
      if (flow.left === 0) flows.delete(key);
    });
  };

  /** Before an answer goes on: what ends unseen from now on leaves a copy that is known to be behind. */
  const note = async (flow: Flow, alone: boolean, request: StreamRequest, log: Logger): Promise<void> => {
    const { version, sender } = request;
    try {
      await flow.storing(async () => {
        const was = await copies.setBehind(sender.watcher, version, true);
        if (was && alone) await drop(request, MISSED, log);
      });
    } catch (error) {
      lose(request, log);
      throw error;
    }
  };

  return {
    drop,
    inTurn,

    /** An answer sets out; `noted` is to be awaited before its bytes go on, and does not fail. */
    begin(request: StreamRequest, log: Logger): { flow: Flow; noted: Promise<void> } {
      const flow = join(request);
      const noting = note(flow, flow.left === 1, request, log);
      return {
        flow,
        noted: withinTimeout(noting, undefined, log, 'a decision stream could not be noted'),
      };
    },

    /** The copy with this answer in it; false when it was changed meanwhile. */
    write(
      flow: Flow,
      { version, sender }: StreamRequest,
      copy: { bytes: Buffer; at: Date },
      revision: number,
    ): Promise<boolean> {
      return flow.storing(() =>
        copies.write(sender.watcher, version, { ...copy, behind: flow.left > 1 }, revision),
      );
    },

    /** The answer changes nothing. */
    async pass(flow: Flow, { version, sender }: StreamRequest): Promise<void> {
      await flow.storing(async () => {
        if (flow.left === 1) await copies.setBehind(sender.watcher, version, false);
      });
    },

    /** Whether the copy has all that went to its watcher, but for what this process will add to it. */
    isCurrent(request: StreamRequest, { behind }: { behind: boolean }): boolean {
      const key = keyOf(request);
      return !lost.has(key) && (!behind || flows.has(key));
    },
  };
}

const MISSED = 'an answer that went to the watcher is missing';

function keyOf({ version, sender: { watcher } }: StreamRequest): string {
  return `${version}/${watcher}`;
}
