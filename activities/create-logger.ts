import { pino } from 'pino';
import type { Logger } from 'pino';
import pretty from 'pino-pretty';
import type { ModelCall } from './ports/meter.js';
import type { Config } from '../schemas/config/config.js';

const STDERR = 2;

/** Lines that could not be written wait up to so many bytes, and are lost beyond. */
const KEPT_BYTES = 4 * 1024 * 1024;

/**
 * stderr, which may be a file on a full disk: that loses lines, and ends nothing. pino's own answer to an error is to
 * throw it, and at the exit of a process it would try such a write again for ever.
 */
function openStderr() {
  const stream = pino.destination({ dest: STDERR, sync: false, maxLength: KEPT_BYTES });
  let isFailing = false;
  stream.removeAllListeners('error');
  stream.on('error', () => (isFailing = true));
  stream.on('write', () => (isFailing = false));
  const flushSync = stream.flushSync.bind(stream);
  return Object.assign(stream, {
    flushSync: () => {
      if (!isFailing) flushSync();
    },
  });
}

/** Lines on stderr, JSON or (LOG_FORMAT=text) readable. Bodies, queries and tokens are never handed to it. */
export function createLogger(config: Config['log'], process: 'gateway' | 'worker'): Logger {
  return pino(
    {
      level: config.level,
      base: { process },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: ['token', 'authorization', 'headers.authorization', 'password'],
    },
    config.format === 'text' ? pretty({ destination: STDERR, sync: true, ignore: 'process' }) : openStderr(),
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
