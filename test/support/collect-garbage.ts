import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { until } from './until.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Waits until no more than so many of these objects are held by anything. */
export async function untilLetGo(held: readonly WeakRef<object>[], atMost: number): Promise<void> {
  await until(`${held.length - atMost} of ${held.length} objects are let go`, async () => {
    collect();
    return held.filter((one) => one.deref() !== undefined).length <= atMost;
  });
}
