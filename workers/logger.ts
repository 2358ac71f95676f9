import { pino } from 'pino';
import type { Logger } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from '../schemas/config/config.js';

/** Logs go to stderr: JSON lines, or text for people. */
export const createLogger = (settings: Config['log']): Logger =>
  pino(
    { level: settings.level, base: { process: 'worker' } },
    settings.format === 'text' ? pretty({ destination: 2, sync: true }) : pino.destination({ dest: 2 }),
  );
