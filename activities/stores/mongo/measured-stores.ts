import { AppError } from '../../../schemas/app-error.js';
import type { Meter } from '../../ports/meter.js';

type EngineMeter = Pick<Meter, 'engineCalled'>;

/** Refusals that a port names are answers; these say that the engine could not do its part. */
function isEngines(error: unknown): boolean {
  return (
    error instanceof AppError && (error.code === 'SERVICE_UNAVAILABLE' || error.code === 'STORAGE_ERROR')
  );
}

function measured<Store extends object>(name: string, store: Store, meter: EngineMeter): Store {
  return Object.fromEntries(
    Object.entries(store).map(([method, call]: [string, unknown]) => {
      if (typeof call !== 'function') return [method, call];
      return [
        method,
        (...given: unknown[]): unknown => {
          const started = performance.now();
          const tell = (failed: boolean): void =>
            meter.engineCalled({
              engine: 'mongodb',
              operation: `${name}.${method}`,
              failed,
              seconds: (performance.now() - started) / 1000,
            });
          const answer = (call as (...values: unknown[]) => unknown)(...given);
          // What is iterated takes as long as its reader.
          if (!(answer instanceof Promise)) return answer;
          answer.then(
            () => tell(false),
            (error: unknown) => tell(isEngines(error)),
          );
          return answer;
        },
      ];
    }),
  ) as Store;
}

/**
 * The same stores, with their calls counted by store and method. The driver's own events would do by command, but it
 * decodes every answer a second time for them.
 */
export function measuredStores<Stores extends Record<string, object>>(
  stores: Stores,
  meter: EngineMeter,
): Stores {
  return Object.fromEntries(
    Object.entries(stores).map(([name, store]) => [name, measured(name, store, meter)]),
  ) as Stores;
}
