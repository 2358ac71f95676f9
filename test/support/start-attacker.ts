import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Target } from './attacks.js';

export interface AttackOrder {
  name: string;
  triesPerSecond: number;
  at: Omit<Target, 'pourUrl'>;
  /** The same requests to a server that does nothing with them: what sending them takes of this machine. */
  isControl: boolean;
}

/** @returns what ends it, and answers how often it tried */
export async function startAttacker(order: AttackOrder): Promise<() => Promise<number>> {
  const { NODE_OPTIONS: _jest, ...env } = process.env;
  const child = fork(new URL('attacker.ts', import.meta.url), [JSON.stringify(order)], {
    execArgv: ['--import', 'tsx'],
    env,
  });
  await once(child, 'message');
  return async () => {
    const told = once(child, 'message');
    child.send('over');
    const [tries] = (await told) as [number];
    return tries;
  };
}
