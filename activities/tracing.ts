import type { Config } from '../schemas/config/config.js';
import type { Meter } from './ports/meter.js';
import type { Tracer } from './ports/tracer.js';
import { currentSpan } from './request-scope.js';

/**
 * Null where no collector is named. What is needed for traces is loaded here and now, so that a process which traces
 * nothing has none of it in memory.
 * @param onState told when the collector stops and begins to take spans
 */
export async function openTracing(
  { tracing }: Pick<Config, 'tracing'>,
  process: 'gateway' | 'worker',
  onState: (state: 'ready' | 'away', cause?: Error) => void,
): Promise<Tracer | null> {
  if (tracing.endpoint === null) return null;
  const { createOtlpTracer } = await import('./otlp-tracer.js');
  return createOtlpTracer({ ...tracing, endpoint: tracing.endpoint, service: `tamis-${process}` }, onState);
}

/**
 * The same meter, with a span for each call to a store or a model server that is part of one. Their names come from
 * fixed sets, as the labels of the metrics do. Calls to Temporal have theirs where they are made, since what they start
 * goes on below them.
 */
export function tracedMeter(meter: Meter, tracer: Tracer | null): Meter {
  return tracer === null
    ? meter
    : {
        ...meter,
        engineCalled(call) {
          meter.engineCalled(call);
          const { engine, operation, seconds, failed } = call;
          const parent = currentSpan();
          if (parent === undefined || engine === 'temporal') return;
          tracer.past(`${engine} ${operation}`, 'client', parent, seconds, {
            facts: { 'db.system.name': engine, 'db.operation.name': operation },
            failed,
          });
        },
        modelCalled(call) {
          meter.modelCalled(call);
          const { operation, provider, outcome, seconds, span } = call;
          if (span === undefined) return;
          tracer.past(`model ${operation}`, 'client', span, seconds, {
            facts: {
              'gen_ai.operation.name': operation,
              'gen_ai.provider.name': provider,
              'tamis.outcome': outcome,
            },
            failed: outcome !== 'ok' && outcome !== 'cancelled',
          });
        },
      };
}
