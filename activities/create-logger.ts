import { pino } from 'pino';
import type { Logger } from 'pino';
import pretty from 'pino-pretty';
import type { ModelCall } from './ports/meter.js';
import type { Config } from '../schemas/config/config.js';

const STDERR = 2;

/** Lines on stderr, JSON or (LOG_FORMAT=text) readable. Bodies, queries and tokens are never handed to it. */
export function createLogger(config: Config['log'], process: 'gateway' | 'worker'): Logger {
  return pino(
    {
      level: config.level,
      base: { process },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: ['token', 'authorization', 'headers.authorization', 'password'],
    },
    config.format === 'text'
      ? pretty({ destination: STDERR, sync: true, ignore: 'process' })
      : pino.destination({ dest: STDERR, sync: false }),
  );
}

/** Traces are no part of the work: a collector that is away is told once, and not for each batch. */
export function logTracing(logger: Logger) {
  return (state: 'ready' | 'away', cause?: Error): void => {
    if (state === 'ready') logger.info('the collector of OTEL_EXPORTER_OTLP_ENDPOINT takes traces again');
    else logger.warn({ err: cause }, 'the collector of OTEL_EXPORTER_OTLP_ENDPOINT does not take traces');
  };
}

/** One line per exchange with a model server, without what was asked and answered. */
export function logModelCalls(logger: Logger) {
  return ({ requestId, seconds, span: _span, ...call }: ModelCall): void =>
    logger.debug(
      { ...call, ms: Math.round(seconds * 1000), ...(requestId !== undefined && { request_id: requestId }) },
      'model call',
    );
}
