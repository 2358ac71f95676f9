import { describe, expect, it } from '@jest/globals';
import type { IndexingPlans } from '../../../../activities/ports/tasks.js';
import type { TaskRecord } from '../../../../schemas/documents/tasks.js';
import { sampleVersion } from '../../../contracts/samples.js';
import { activityBench, inActivity, refOf } from '../../../support/activity-bench.js';

const MINUTE = 60_000;

/** A bench whose clock is some minutes behind the hand-over of its tasks, and a Temporal that knows none of them. */
async function openBench({ minutes }: { minutes: number }) {
  const states = new Map<string, Awaited<ReturnType<IndexingPlans['stateOf']>> | Error>();
  const asked: string[] = [];
  const bench = await activityBench(undefined, {
    now: () => new Date(Date.now() + minutes * MINUTE),
    plans: {
      async stateOf({ file_key: fileKey }) {
        asked.push(fileKey);
        const state = states.get(fileKey) ?? 'unknown';
        if (state instanceof Error) throw state;
        return state;
      },
    },
  });
  const handOver = async (fileId: string): Promise<TaskRecord> => {
    const task = await bench.admit(fileId, `text of ${fileId}`);
    await bench.tasks.markHandedOver(task.task_id);
    return task;
  };
  const sweep = () => inActivity(() => bench.sweep.findUnstarted()).result;
  return { bench, states, asked, handOver, sweep };
}

describe('tasks that were handed over and have no workflow', () => {
  it('are started anew where Temporal does not know it', async () => {
    const { bench, states, handOver, sweep } = await openBench({ minutes: 10 });
    const lost = await handOver('lost');
    const open = await handOver('open');
    states.set(open.file_key, 'open');
    expect(await sweep()).toMatchObject([{ ...refOf(lost), partition: 'library', fileId: 'lost' }]);
    for (const { task_id: taskId } of [lost, open])
      expect(await bench.tasks.get(taskId)).toMatchObject({ state: 'QUEUED', error: null });
  });

  it('end where it was ended in Temporal, and their user has its places again', async () => {
    const { bench, states, handOver, sweep } = await openBench({ minutes: 10 });
    const task = await handOver('guide');
    states.set(task.file_key, 'closed');
    expect(await bench.tasks.countRunning(task.user_id, 10)).toBe(1);
    expect(await sweep()).toEqual([]);
    expect(await bench.tasks.get(task.task_id)).toMatchObject({
      state: 'FAILED',
      error: { code: 'TASK_EXPIRED', message: 'Its workflow was ended in Temporal.' },
    });
    expect(await bench.tasks.countRunning(task.user_id, 10)).toBe(0);
    expect((await bench.files.get('library', 'guide'))?.pending_task).toBeNull();
  });

  it('end COMPLETED where their version is live already', async () => {
    const { bench, handOver, sweep } = await openBench({ minutes: 10 });
    const { task_id, file_key, generation } = await handOver('guide');
    await bench.files.publish(file_key, task_id, sampleVersion({ generation, task_id }));
    expect(await sweep()).toEqual([]);
    expect(await bench.tasks.get(task_id)).toMatchObject({ state: 'COMPLETED', error: null });
  });

  it('are left alone while the answer to their start may be under way', async () => {
    const { asked, handOver, sweep } = await openBench({ minutes: 1 });
    await handOver('guide');
    expect(await sweep()).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('keep nothing else waiting when Temporal does not answer', async () => {
    const { bench, states, handOver, sweep } = await openBench({ minutes: 10 });
    const task = await handOver('guide');
    states.set(task.file_key, new Error('14 UNAVAILABLE'));
    const waiting = await bench.admit('other', 'other text');
    expect(await sweep()).toMatchObject([refOf(waiting)]);
  });

  it('are asked for some at a time, and all in turn', async () => {
    const { bench, states, asked, handOver, sweep } = await openBench({ minutes: 10 });
    const task = await handOver('first');
    for (let at = 0; at < 120; at += 1) {
      const name = `more-${at}`;
      states.set(name, 'open');
      const handedOver = new Date(task.created_at.getTime() + at);
      await bench.tasks.insert({ ...task, task_id: name, file_key: name, handed_over_at: handedOver });
    }
    const rounds: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await sweep();
      rounds.push(asked.length);
    }
    expect(new Set(asked).size).toBe(121);
    expect(rounds[0]).toBe(50);
    // From the first on again.
    await sweep();
    expect(asked.filter((fileKey) => fileKey === 'more-0')).toHaveLength(2);
  });
});
