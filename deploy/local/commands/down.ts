import { setTimeout as sleep } from 'node:timers/promises';
import { killGroup } from '../kill-group.js';
import { isAlive } from '../process-identity.js';
import type { ProcessIdentity } from '../process-identity.js';
import { sayFailure } from '../say-failure.js';
import type { Workbench } from '../workbench.js';

/** Longer than a launcher needs to stop what it runs. */
const TIMEOUT_SECONDS = 60;

/** Ends whatever runs in this clone: first the commands, which stop what is theirs, then what is left. */
export async function down(bench: Workbench): Promise<number> {
  const { record, report } = bench;
  const { commands, processes } = record.read();
  const steps = await Promise.allSettled(
    commands.map(async (command) => {
      report.phase(`npm run ${command.command}`, `stopping process ${command.pid}`, 10);
      await end(command);
      report.done(`npm run ${command.command}`, 'stopped');
    }),
  );
  const left = Object.entries(record.read().processes);
  // A gateway and a worker without their launcher: they finish what is under way on services that still run.
  for (const ofServices of [false, true])
    steps.push(
      ...(await Promise.allSettled(
        left
          .filter(([, { kind }]) => (kind === 'service') === ofServices)
          .map(async ([name, process]) => {
            report.phase(name, 'stopping', 5);
            await killGroup(process, 20);
            report.done(name, 'stopped');
          }),
      )),
    );
  if (commands.length + Object.keys(processes).length === 0) report.say('Nothing runs in this clone.');
  else {
    const nothing = { commands: [], processes: {}, addresses: {} };
    steps.push(...(await Promise.allSettled([record.change((state) => void Object.assign(state, nothing))])));
  }
  return sayFailure(report, steps) ? 1 : 0;
}

/** A launcher shares its group with the shell that started it: the process alone is meant. */
async function end(command: ProcessIdentity): Promise<void> {
  const began = Date.now();
  if (isAlive(command)) process.kill(command.pid, 'SIGTERM');
  while (isAlive(command)) {
    if (Date.now() - began > TIMEOUT_SECONDS * 1000) process.kill(command.pid, 'SIGKILL');
    await sleep(100);
  }
}
