import type { QuotaStore } from '../../../../activities/ports/users.js';

/** Quota reservations in a Map. */
export function createFakeQuotaStore(): QuotaStore {
  const lists = new Map<number, { taskIds: string[]; turn: number }>();
  const listOf = (userId: number) => {
    const list = lists.get(userId) ?? { taskIds: [], turn: 0 };
    lists.set(userId, list);
    return list;
  };
  return {
    async pending(userId) {
      const { taskIds, turn } = listOf(userId);
      return { taskIds: [...taskIds], turn };
    },
    async reserve({ userId, taskId, room, turn }) {
      const list = listOf(userId);
      if (list.taskIds.includes(taskId)) return 'reserved';
      if (list.turn !== turn) return 'changed';
      if (list.taskIds.length >= room) return 'full';
      list.taskIds.push(taskId);
      return 'reserved';
    },
    async release(taskIds) {
      for (const list of lists.values()) {
        const left = list.taskIds.filter((taskId) => !taskIds.includes(taskId));
        if (left.length === list.taskIds.length) continue;
        list.taskIds = left;
        list.turn += 1;
      }
    },
    async inherit(taskId, heir) {
      for (const list of lists.values())
        list.taskIds = list.taskIds.map((listed) => (listed === taskId ? heir : listed));
    },
    async *scan() {
      for (const [userId, { taskIds }] of lists)
        if (taskIds.length > 0) yield { userId, taskIds: [...taskIds] };
    },
  };
}
