import { readFile, readdir } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker } from '@temporalio/worker';
import type { WorkflowBundleOption } from '@temporalio/worker';
import * as workflows from '../../workflows/index.js';
import { quietRuntime, workflowBundle } from '../support/workflow-environment.js';

const FOLDER = new URL('../histories/', import.meta.url);

async function replay(history: unknown, bundle?: WorkflowBundleOption): Promise<void> {
  return Worker.runReplayHistory({ workflowBundle: bundle ?? (await workflowBundle()) }, history);
}

async function read(name: string): Promise<string> {
  return readFile(new URL(name, FOLDER), 'utf8');
}

const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.json'));

interface History {
  name: string;
  content: unknown;
  type: string;
  /** The changes whose new side it took. */
  patches: string[];
}

interface RecordedEvent {
  workflowExecutionStartedEventAttributes?: { workflowType: { name: string } };
  markerRecordedEventAttributes?: { details: { 'patch-data'?: { payloads: { data: string }[] } } };
}

async function allHistories(): Promise<History[]> {
  return Promise.all(
    names.map(async (name) => {
      const content = JSON.parse(await read(name)) as { events: RecordedEvent[] };
      const { events } = content;
      const marks = events.flatMap(
        ({ markerRecordedEventAttributes: marker }) => marker?.details['patch-data']?.payloads ?? [],
      );
      return {
        name,
        content,
        type: events[0]?.workflowExecutionStartedEventAttributes?.workflowType.name ?? '',
        patches: marks.map(({ data }) => (JSON.parse(atob(data)) as { id: string }).id),
      };
    }),
  );
}

async function bundledCode(): Promise<string> {
  const bundle = await workflowBundle();
  return 'code' in bundle ? bundle.code : readFile(bundle.codePath, 'utf8');
}

/** Whether a history comes to where a change is asked for: to ask fails here, and so does the replay. */
async function asksFor(patch: string, code: string, { content }: History): Promise<boolean> {
  const failing = code.replaceAll(PATCHED, (call, id) =>
    id === patch ? call.replace('patched', ASKED) : call,
  );
  return replay(content, { code: failing }).then(
    () => false,
    () => true,
  );
}

/** A call of it in the bundle, with the name of the change. */
const PATCHED = /\.patched\)\(["']([\w-]+)["']\)/g;
/** A function that there is not. */
const ASKED = 'askedForPatch';

beforeAll(() => quietRuntime());

describe('recorded histories', () => {
  it('exist for every workflow', async () => {
    const types = (await allHistories()).map(({ type }) => type);
    expect([...new Set(types)].sort()).toEqual(Object.keys(workflows).sort());
  });

  it.each(names)('%s replays on the present code', async (name) => {
    await replay(JSON.parse(await read(name)));
  });

  it('take both sides of every change of a workflow', async () => {
    const code = await bundledCode();
    const patches = [...new Set([...code.matchAll(PATCHED)].map(([, id = '']) => id))];
    expect([...code.matchAll(PATCHED)]).toHaveLength(code.split('.patched)(').length - 1);
    expect(patches).not.toEqual([]);
    const histories = await allHistories();
    const missing: string[] = [];
    for (const patch of patches) {
      const changed = histories.filter((history) => history.patches.includes(patch));
      const types = changed.map(({ type }) => type);
      if (changed.length === 0) missing.push(`${patch}: none with it`);
      let isKept = false;
      for (const history of histories)
        if (!isKept && types.includes(history.type) && !history.patches.includes(patch))
          isKept = await asksFor(patch, code, history);
      if (!isKept) missing.push(`${patch}: none from before it`);
    }
    expect(missing).toEqual([]);
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
