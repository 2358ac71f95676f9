import { readFile, readdir } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker } from '@temporalio/worker';
import * as workflows from '../../workflows/index.js';
import { quietRuntime, workflowBundle } from '../support/workflow-environment.js';

const FOLDER = new URL('../histories/', import.meta.url);

async function replay(history: unknown): Promise<void> {
  return Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, history);
}

async function read(name: string): Promise<string> {
  return readFile(new URL(name, FOLDER), 'utf8');
}

const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.json'));

beforeAll(() => quietRuntime());

describe('recorded histories', () => {
  it('exist for every workflow', async () => {
    const types = await Promise.all(
      names.map(
        async (name) =>
          (
            JSON.parse(await read(name)) as {
              events: { workflowExecutionStartedEventAttributes?: { workflowType: { name: string } } }[];
            }
          ).events[0]?.workflowExecutionStartedEventAttributes?.workflowType.name,
      ),
    );
    expect([...new Set(types)].sort()).toEqual(Object.keys(workflows).sort());
  });

  it.each(names)('%s replays on the present code', async (name) => {
    await replay(JSON.parse(await read(name)));
  });

  it('name no place of the machine that recorded them', async () => {
    const found: string[] = [];
    for (const name of names)
      for (const [, place = ''] of (await read(name)).matchAll(/\((?:file:\/\/)?(\/[^):]*)/g))
        if (!/^\/(node_modules|workflows|activities|test)\//.test(place)) found.push(`${name}: ${place}`);
    expect(found).toEqual([]);
  });

  it('notices a plan that took another step', async () => {
    const history = (await read('index-document-completed.json')).replaceAll(
      '"parseDocument"',
      '"readDocument"',
    );
    await expect(replay(JSON.parse(history))).rejects.toThrow(DeterminismViolationError);
  });
});
