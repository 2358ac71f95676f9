/**
 * One attack from a process of its own, so that who measures is not kept from it. Started by `startAttacker`; ends when
 * it is told to, and says how often it tried.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { AttackOrder } from './start-attacker.js';
import { ATTACKS } from './attacks.js';
import { listenOnLoopback } from './loopback-server.js';

const { name, triesPerSecond, at, isControl } = JSON.parse(process.argv[2] ?? '') as AttackOrder;
const attack = ATTACKS.find((one) => one.name === name)!;

// An attacker has a machine of its own. Here it shares the cores, and gives way.
setPriority(10);

/** Takes all and does nothing with it. */
const harmless = createServer((req, res) => {
  req.resume().on('end', () => res.writeHead(403, { 'content-type': 'application/json' }).end('{}'));
});
/** A model server of the attacker: blanks behind an open citation, and then more of them without an end. */
const pour = createServer((req, res) => {
  req.resume();
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = `data: ${JSON.stringify({ choices: [{ delta: { content: `[sources${' '.repeat(1900)}` } }] })}\n\n`;
  const write = (): void => {
    while (!res.destroyed && res.write(event));
    res.once('drain', write);
  };
  write();
});

const target = {
  ...at,
  ...(isControl && { base: (await listenOnLoopback(harmless)).url }),
  pourUrl: `${(await listenOnLoopback(pour)).url}/v1`,
};
let over = false;
let tries = 0;
async function hand(): Promise<void> {
  while (!over) {
    await attack.once(target, (tries += 1)).catch(() => undefined);
    await pause((1000 * attack.hands) / triesPerSecond);
  }
}
const hands = Promise.all(Array.from({ length: attack.hands }, hand));
process.send!('ready');
await once(process, 'message');
over = true;
await Promise.race([hands, pause(10_000)]);
process.send!(tries);
process.exit(0);
