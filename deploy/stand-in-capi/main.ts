/** A program of its own: PORT (0: any free one), HOST, STAND_IN_FILE (JSON lines). */
import { createStandInCapi } from './create-stand-in-capi.js';

const standIn = await createStandInCapi({
  port: Number(process.env['PORT'] ?? 0),
  host: process.env['HOST'] ?? '127.0.0.1',
  file: process.env['STAND_IN_FILE'],
});
process.stdout.write(`${JSON.stringify({ ready: true, url: standIn.url, port: standIn.port })}\n`);
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => void standIn.close());
