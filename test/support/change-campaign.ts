import type { Drift } from '../../activities/documents/clean-up/check-stores.js';
import { scenesOf } from './change-scenes.js';
import { killAt, sweptUp } from './kill-tools.js';
import type { Kill } from './kill-tools.js';
import type { RunningStack } from './running-stack.js';

export interface ChangeReport {
  /** What is not as it would be without a kill: empty when all went well. */
  faults: string[];
  /** Where the stores disagree once the scheduled sweep has had its time. */
  drifts: Drift[];
  kills: Kill[];
}

/**
 * PATCH, copy, DELETE and cancel while worker or gateway is killed with SIGKILL in the middle of them; the end must
 * be the one that the change has without a kill, and nothing may be left over.
 * @param options.all every scene with every moment, instead of one moment of each main scene
 */
export async function runChangeCampaign(
  stack: RunningStack,
  options: { all: boolean },
): Promise<ChangeReport> {
  const { main, more } = scenesOf(stack);
  const report: ChangeReport = { faults: [], drifts: [], kills: [] };
  const runs = (options.all ? [...main, ...more] : main).flatMap((scene) =>
    scene.moments.slice(0, options.all ? undefined : 1).map((moment, index) => ({
      scene,
      moment,
      id: `${scene.name}-${index}`,
    })),
  );
  await Promise.all(runs.map(({ scene, id }) => scene.prepare(id)));
  for (const { scene, moment, id } of runs) {
    const [kill] = await Promise.all([killAt(stack, moment(id)), scene.act(id)]);
    report.kills.push(kill);
  }
  for (const { scene, id } of runs) report.faults.push(...(await scene.check(id)));
  report.drifts = await sweptUp(stack);
  report.faults.push(...stack.crashes());
  return report;
}
