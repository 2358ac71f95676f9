import { pino } from 'pino';
import type { Logger } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from '../schemas/config/config.js';

const STDERR = 2;

/** Lines on stderr, JSON or (LOG_FORMAT=text) readable. Bodies, queries and tokens are never handed to it. */
export const createLogger = (config: Config['log'], process: 'gateway' | 'worker'): Logger =>
  pino(
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
