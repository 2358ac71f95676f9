import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { RuntimeOptions } from '@temporalio/worker';
import type { pino } from 'pino';

/** Another process may take a free port in the moment before the exporter does. */
const TRIES = 5;

function freeLoopbackPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

/**
 * The SDK's runtime: its warnings go to our log. Its exporter of figures must be told a port, so it gets a free one of
 * loopback, and `serve-metrics.ts` hands on what it says.
 * @returns where the exporter answers; null when no figures are wanted
 */
export async function installRuntime(logger: pino.Logger, wantsMetrics: boolean): Promise<string | null> {
  const options: RuntimeOptions = {
    // Ours from the first line on (`main.ts`): the SDK would take them from here on, and do nothing before workers run.
    shutdownSignals: [],
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // Our interceptor has logged it already, with its cause.
      if (message === 'Activity failed') return;
      logger[level === 'ERROR' ? 'error' : 'warn']({ temporal: meta }, message);
    }),
  };
  if (!wantsMetrics) {
    Runtime.install(options);
    return null;
  }
  for (let tried = 1; ; tried += 1) {
    const bindAddress = `127.0.0.1:${await freeLoopbackPort()}`;
    try {
      Runtime.install({
        ...options,
        telemetryOptions: {
          metrics: {
            prometheus: {
              bindAddress,
              countersTotalSuffix: true,
              unitSuffix: true,
              useSecondsForDurations: true,
            },
          },
        },
      });
      return `http://${bindAddress}/metrics`;
    } catch (error) {
      if (tried >= TRIES) throw error;
    }
  }
}
