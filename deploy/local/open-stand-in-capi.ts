import { join } from 'node:path';
import { reservePort } from './free-port.js';
import { ManagedProcess } from './managed-process.js';
import type { Stack } from './stack.js';
import type { Workbench } from './workbench.js';

const USUAL_PORT = 8081;

/**
 * Answers the address of the central API that signals go to. Without a CAPI_URL it is a stand-in on this machine, so
 * that no first run ever speaks to the real one. What it received is kept in `.local/stand-in-capi.jsonl`.
 * @param options.besides ports that the gateway is going to listen on, and does not yet
 */
export async function openStandInCapi(
  bench: Workbench,
  stack: Pick<Stack, 'run'>,
  { build, besides }: { build: string; besides: readonly number[] },
): Promise<string> {
  const given = bench.settings['CAPI_URL'];
  if (given !== undefined) return given;
  const { port, release } = await reservePort(besides.includes(USUAL_PORT) ? null : USUAL_PORT);
  const address = `http://127.0.0.1:${port}/`;
  try {
    await stack.run(
      new ManagedProcess(bench, {
        name: 'capi',
        kind: 'app',
        command: process.execPath,
        args: [join(build, 'deploy/stand-in-capi/main.js')],
        cwd: bench.paths.root,
        env: {
          ...process.env,
          HOST: '127.0.0.1',
          PORT: String(port),
          STAND_IN_FILE: join(bench.paths.local, 'stand-in-capi.jsonl'),
        },
        log: join(bench.paths.logs, 'capi.log'),
        ports: [port],
        readySeconds: 60,
        expectedSeconds: 2,
        stopSeconds: 5,
        ready: () => answers(address),
        answers: () => answers(address),
        advice: ['or set CAPI_URL to the central API that signals are to go to'],
      }),
    );
  } finally {
    release();
  }
  bench.report.say(
    `  ! CAPI_URL is not set: signals go to a stand-in on this machine (${address}), never to the real central API`,
  );
  await bench.record.change(({ addresses }) => void (addresses.capi = address));
  return address;
}

async function answers(address: string): Promise<boolean> {
  const response = await fetch(new URL('_control/behaviour', address), { signal: AbortSignal.timeout(3000) });
  await response.arrayBuffer();
  return response.ok;
}
