import { expect, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

interface Task {
  state: string;
}

const asked: string[] = [];
/** What the server answers, whatever is asked. */
let answer: unknown;
Object.assign(globalThis, {
  window: { location: { origin: 'http://console.test' } },
  fetch: async (request: Request) => {
    asked.push(request.url.slice('http://console.test'.length));
    return Response.json(answer);
  },
});
const { isCut } = await loadWeb<{ isCut(tasks: Task[]): boolean }>('pages/documents/tasks/is-cut');
const { failedTasksQuery } = await loadWeb<{
  failedTasksQuery(partition: string): { queryKey: string[]; queryFn(): Promise<Task[]> };
}>('pages/documents/queries');
interface Signal {
  id: number;
}
const { quarantineQuery } = await loadWeb<{
  quarantineQuery: {
    queryFn(context: { pageParam: number }): Promise<Signal[]>;
    getNextPageParam(last: Signal[], pages: Signal[][]): number | undefined;
    select(data: { pages: Signal[][] }): Signal[];
  };
}>('pages/signals/queries');

function tasks(count: number, state: string): Task[] {
  return Array.from({ length: count }, () => ({ state }));
}

test('a list with as many tasks as the server lists is said to be cut', () => {
  expect(isCut([])).toBe(false);
  expect(isCut([...tasks(1_999, 'QUEUED'), ...tasks(499, 'COMPLETED')])).toBe(false);
  expect(isCut([...tasks(1_000, 'QUEUED'), ...tasks(1_000, 'SERIALIZING')])).toBe(true);
  expect(isCut([...tasks(250, 'FAILED'), ...tasks(250, 'CANCELLED')])).toBe(true);
});

test('the failed tasks of a partition are asked for alone, and kept beside those of another', async () => {
  asked.length = 0;
  answer = { tasks: tasks(2, 'FAILED') };
  const [mill, harbour] = ['mill', 'harbour'].map((name) => failedTasksQuery(name));
  expect(await mill!.queryFn()).toHaveLength(2);
  expect(asked).toEqual(['/queue/tasks?task_status=FAILED&partition=mill']);
  expect(mill!.queryKey).not.toEqual(harbour!.queryKey);
});

test('the quarantine is read to its end, page by page', async () => {
  asked.length = 0;
  const page = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({ id: from - index }));
  const [first, second] = [page(1_000, 100), page(901, 40)];
  answer = first;
  expect(await quarantineQuery.queryFn({ pageParam: 0 })).toEqual(first);
  const next = quarantineQuery.getNextPageParam(first, [first]);
  await quarantineQuery.queryFn({ pageParam: next! });
  expect(asked).toEqual(['/api/quarantine?limit=100&offset=0', '/api/quarantine?limit=100&offset=100']);
  expect(quarantineQuery.getNextPageParam(second, [first, second])).toBeUndefined();
  // One that came in between the pages moved the last of the first one into the second.
  expect(quarantineQuery.select({ pages: [first, second] })).toHaveLength(139);
});
