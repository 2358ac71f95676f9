/** The worker's health check: it keeps this file young while it polls. */
import { statSync } from 'node:fs';

const OLDEST_MS = 30_000;
const file = process.env['WORKER_HEALTH_FILE'] ?? '';
process.exit(Date.now() - statSync(file).mtimeMs < OLDEST_MS ? 0 : 1);
