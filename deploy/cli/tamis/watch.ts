import { setTimeout } from 'node:timers/promises';
import { CliFailure, EXIT } from './cli-failure.js';
import type { Context } from './context.js';
import { createMeter, progressBar, progressWords } from './progress.js';
import type { Progress } from './progress.js';

/** Something whose progress is watched until it ends. */
export interface Watched<State> {
  /** States one after the other; it may break off, and is asked again then. */
  states(): AsyncIterable<State>;
  isFinal(state: State): boolean;
  progressOf(state: State): Progress & { paused?: boolean };
  /** Said when the person leaves with Ctrl-C. */
  howToComeBack: string;
}

/** Without a terminal a line is written so often at most, unless the phase changes. */
const LINE_EVERY_MS = 5_000;
const AGAIN_AFTER_MS = 1_000;
/** A gateway that is away is asked again for so long, from when it was missed: it may be starting anew. */
const RECONNECT_TIMEOUT_MS = 120_000;

/**
 * Shows progress until the end and answers the last state. Leaving does no harm: what is watched goes on by itself.
 * @throws CliFailure
 */
export async function watch<State>(context: Context, watched: Watched<State>): Promise<State> {
  const display = createDisplay(context);
  let wasHeard = false;
  let missedAt: number | null = null;
  try {
    for (;;) {
      try {
        for await (const state of watched.states()) {
          wasHeard = true;
          missedAt = null;
          if (context.json) context.write(`${JSON.stringify(state)}\n`);
          else display.see(watched.progressOf(state));
          if (watched.isFinal(state)) return state;
        }
      } catch (error) {
        const isAway =
          error instanceof CliFailure && (error.exitCode === EXIT.unreachable || isUnwell(error));
        // What is paused or takes long says nothing for as long: a silence before counts for nothing.
        missedAt ??= Date.now();
        const mayWait = wasHeard && Date.now() - missedAt < RECONNECT_TIMEOUT_MS;
        if (context.signal.aborted || !isAway || !mayWait) throw error;
        display.say('the gateway is away; asking again');
      }
      await setTimeout(AGAIN_AFTER_MS, undefined, { signal: context.signal });
    }
  } catch (error) {
    if (context.signal.aborted) throw new CliFailure(EXIT.interrupted, watched.howToComeBack);
    throw error;
  } finally {
    display.end();
  }
}

function isUnwell({ status }: CliFailure): boolean {
  return status !== null && status >= 500;
}

function createDisplay({ isTerminal, columns, json, write }: Context) {
  const meter = createMeter();
  let shown = { phase: '', at: 0, line: '' };
  let said = '';
  let latest: (Progress & { paused?: boolean }) | null = null;

  const draw = (progress: Progress & { paused?: boolean }): void => {
    const rate = progress.paused === true ? null : meter.rate();
    const phase = progress.paused === true ? `paused, ${progress.phase}` : progress.phase;
    if (isTerminal) {
      write(`\r\x1b[2K${progressBar({ ...progress, phase }, rate, columns)}`);
      return;
    }
    const line = progressWords({ ...progress, phase }, rate);
    const isEnd = progress.total !== null && progress.done >= progress.total;
    if (line === shown.line || (phase === shown.phase && !isEnd && Date.now() - shown.at < LINE_EVERY_MS))
      return;
    shown = { phase, at: Date.now(), line };
    write(`${line}\n`);
  };
  // The rate falls also while nothing is heard.
  const timer = isTerminal
    ? setInterval(() => {
        if (latest === null) return;
        meter.see(latest.done, Date.now());
        draw(latest);
      }, 1000)
    : null;

  return {
    see(progress: Progress & { paused?: boolean }): void {
      latest = progress;
      said = '';
      meter.see(progress.done, Date.now());
      draw(progress);
    },
    /** Once, until something is seen again. */
    say(words: string): void {
      if (json || words === said) return;
      said = words;
      write(isTerminal ? `\r\x1b[2K${words}` : `${words}\n`);
    },
    end(): void {
      if (timer !== null) clearInterval(timer);
      if (isTerminal && latest !== null) write('\n');
    },
  };
}
