import {
  CancellationScope,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  log,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

export interface UpkeepInput {
  prefix: string;
  /** Between two turns, by the configuration of the worker that told it last (SWEEP_INTERVAL_SECONDS). */
  everyMs: number;
  /** What an operator decided; it goes from run to run and outlives restarts of workers. */
  operator?: OperatorChoice;
  /** So many turns and signals, then a new run with an empty history; Temporal may ask for it earlier. */
  stepsPerRun?: number;
}

export interface OperatorChoice {
  paused: boolean;
  /** Instead of the configured interval; null: the configured one. */
  everySeconds: number | null;
}

export interface UpkeepView {
  paused: boolean;
  everyMs: number;
  /** Turns of this run. */
  turns: number;
  /** What the last turn failed with, by duty. */
  failures: Record<string, string>;
}

/** A worker tells its configuration, at its start and every quarter of an hour. */
const configure = defineSignal<[Partial<UpkeepInput>]>('configure');
/** For operators, in the Temporal UI or with the `temporal` command. */
const pause = defineSignal('pause');
const resume = defineSignal('resume');
/** Seconds between two turns; null goes back to the configuration. */
const interval = defineSignal<[number | null]>('interval');
const upkeepStatus = defineQuery<UpkeepView>('upkeepStatus');

/**
 * One open workflow instead of a finished one for every turn: it does its duties, waits, and continues as new before
 * its history grows. A duty that fails is logged, and is tried again at the next turn.
 *
 * @param duties by name; each gets the present input
 */
export async function runUpkeep<Input extends UpkeepInput>(
  input: Input,
  duties: Record<string, (input: Input) => Promise<unknown>>,
): Promise<never> {
  let current = input;
  let operator = input.operator ?? { paused: false, everySeconds: null };
  let told = false;
  let steps = 0;
  let turns = 0;
  const failures: Record<string, string> = {};
  const everyMs = (): number =>
    operator.everySeconds === null ? current.everyMs : operator.everySeconds * 1000;
  const runIsFull = (): boolean =>
    (current.stepsPerRun !== undefined && steps >= current.stepsPerRun) ||
    workflowInfo().continueAsNewSuggested;
  const tell = (change: () => void): void => {
    change();
    told = true;
    steps += 1;
  };

  setHandler(upkeepStatus, () => ({ paused: operator.paused, everyMs: everyMs(), turns, failures }));
  setHandler(configure, (next) => tell(() => (current = { ...current, ...next })));
  setHandler(pause, () => tell(() => (operator = { ...operator, paused: true })));
  setHandler(resume, () => tell(() => (operator = { ...operator, paused: false })));
  setHandler(interval, (everySeconds) => tell(() => (operator = { ...operator, everySeconds })));

  const describe = (): void => {
    const failing = Object.keys(failures);
    const last = failing.length === 0 ? '' : `; failed in the last turn: ${failing.join(', ')}`;
    setCurrentDetails(
      operator.paused ? `paused${last}` : `a turn every ${everyMs() / 1000} s, ${turns} in this run${last}`,
    );
  };

  describe();
  for (;;) {
    told = false;
    if (!operator.paused) {
      await takeTurn();
      turns += 1;
      steps += 1;
    }
    describe();
    if (runIsFull()) {
      await condition(allHandlersFinished);
      await continueAsNew<(next: Input) => Promise<never>>({ ...current, operator });
    }
    if (told) continue;
    if (operator.paused) await condition(() => told);
    else await condition(() => told, everyMs());
  }

  async function takeTurn(): Promise<void> {
    for (const [name, duty] of Object.entries(duties)) {
      try {
        await duty(current);
        // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a name of a duty, as the query shows them
        delete failures[name];
      } catch (error) {
        if (CancellationScope.current().consideredCancelled) throw error;
        failures[name] = error instanceof Error ? error.message : String(error);
        log.warn('a duty of the upkeep failed', { duty: name, error });
      }
    }
  }
}
