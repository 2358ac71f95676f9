import { describe, expect, test } from '@jest/globals';
import type { Db } from 'mongodb';
import type { PromptStore } from '../../../activities/ports/model-administration.js';
import { inRequest } from '../../../activities/request-scope.js';
import { createMongoModelEndpointStore } from '../../../activities/stores/mongo/models/model-endpoint-store.js';
import { createMongoPresetStore } from '../../../activities/stores/mongo/models/preset-store.js';
import { createMongoPromptStore } from '../../../activities/stores/mongo/models/prompt-store.js';
import {
  cacheSettings,
  createSettingsCache,
} from '../../../activities/stores/mongo/models/settings-cache.js';
import type { SettingsStores } from '../../../activities/stores/mongo/models/settings-cache.js';
import { createMongoSettingsRevision } from '../../../activities/stores/mongo/models/settings-revision.js';
import { seededRandom } from '../../support/seeded-random.js';
import { mongo, useSubject } from '../subject.js';
import { modelEndpointStoreContract } from './model-endpoint-store.contract.js';
import { presetStoreContract } from './preset-store.contract.js';
import { promptStoreContract } from './prompt-store.contract.js';

function cached(db: Db): SettingsStores {
  const stores = {
    endpoints: createMongoModelEndpointStore(db),
    presets: createMongoPresetStore(db),
    prompts: createMongoPromptStore(db),
  };
  return cacheSettings(stores, createMongoSettingsRevision(db));
}

const NAME = 'MongoDB, cached';
for (const subject of mongo((db) => cached(db).endpoints, NAME)) modelEndpointStoreContract(subject);
for (const subject of mongo((db) => cached(db).presets, NAME)) presetStoreContract(subject);
for (const subject of mongo((db) => cached(db).prompts, NAME)) promptStoreContract(subject);

/** Two processes over one database, what the first has read, and the store itself. */
function twoProcesses(db: Db) {
  const plain = createMongoPromptStore(db);
  const asked: string[] = [];
  const counted: PromptStore = {
    ...plain,
    get(id) {
      asked.push(id);
      return plain.get(id);
    },
  };
  const here = createSettingsCache(createMongoSettingsRevision(db)).over('prompts', counted, [
    'get',
    'defaults',
  ]);
  return { here, there: cached(db).prompts, plain, asked };
}

for (const subject of mongo(twoProcesses))
  describe('settings cache', () => {
    const stage = useSubject(subject);
    const create = (store: PromptStore, name: string) =>
      store.create({ prompt_type: 'hyde', name, content: 'first' });

    test('reads once what stays, and again after a change of either process', async () => {
      const { here, there, asked } = stage();
      const { id } = await create(here, 'one');
      const first = await here.get(id);
      expect(await here.get(id)).toBe(first);
      expect(asked).toEqual([id]);
      for (const [store, content] of [
        [there, 'second'],
        [here, 'third'],
      ] as const) {
        await store.update(id, { content });
        expect(await here.get(id)).toMatchObject({ content });
        expect(await there.get(id)).toMatchObject({ content });
      }
      expect(asked).toEqual([id, id, id]);
    });

    test('a change past the stores shows after a second', async () => {
      const { here, plain } = stage();
      const { id } = await create(here, 'two');
      await here.get(id);
      await plain.update(id, { content: 'restored' });
      const until = Date.now() + 5000;
      while ((await here.get(id))?.content !== 'restored') expect(Date.now()).toBeLessThan(until);
    });

    test('a request reads its own changes, and the next one those of others', async () => {
      const { here, there } = stage();
      const { id } = await create(here, 'three');
      const read = () => here.get(id).then((found) => found?.content);
      await inRequest('r1', async () => {
        expect(await read()).toBe('first');
        await here.update(id, { content: 'mine' });
        expect(await read()).toBe('mine');
        await there.update(id, { content: 'theirs' });
        expect(await inRequest('r2', read)).toBe('theirs');
      });
    });

    test('nobody can change what others will read', async () => {
      const { here } = stage();
      const { id } = await create(here, 'four');
      const found = (await here.get(id))!;
      expect(() => {
        found.content = 'spoilt';
      }).toThrow(TypeError);
    });

    test('a read that failed is asked again', async () => {
      const { plain } = stage();
      const { id } = await create(plain, 'five');
      let isAway = true;
      const flaky: PromptStore = {
        ...plain,
        get: (wanted) => (isAway ? Promise.reject(new Error('away')) : plain.get(wanted)),
      };
      const revision = { read: async () => 'one', change: async () => undefined };
      const flakyCached = createSettingsCache(revision).over('prompts', flaky, ['get']);
      await inRequest('r', async () => {
        await expect(flakyCached.get(id)).rejects.toThrow('away');
        isAway = false;
        expect(await flakyCached.get(id)).toMatchObject({ id });
      });
    });

    test('whatever two processes change and read, an answer is as if nothing were kept', async () => {
      const { here, there, plain } = stage();
      const random = seededRandom(20261127);
      const ids: string[] = [];
      for (let index = 0; index < 4; index += 1) ids.push((await create(here, `random-${index}`)).id);
      for (let step = 0; step < 400; step += 1) {
        const store = random() < 0.5 ? here : there;
        const id = ids[Math.floor(random() * ids.length)]!;
        const kind = random();
        if (kind < 0.25) await store.update(id, { content: `${step}` });
        else if (kind < 0.3) await store.setDefault('hyde', id);
        else if (kind < 0.65) expect(await store.get(id)).toEqual(await plain.get(id));
        else expect(await store.defaults()).toEqual(await plain.defaults());
      }
    });
  });
