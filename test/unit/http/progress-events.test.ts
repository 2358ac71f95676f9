import { describe, expect, it } from '@jest/globals';
import { progressEvents } from '../../../api/http/progress-events.js';

const STARTED = new Date('2026-01-02T03:04:05.678Z');

/** What the stream says of a run that stays as it is until it has been read so many times. */
async function said(reads: number, silentMs?: number): Promise<string[]> {
  let left = reads;
  const read = async () => {
    left -= 1;
    return {
      state: left > 0 ? 'paused' : 'done',
      started_at: STARTED,
      updated_at: STARTED,
      finished_at: null,
    };
  };
  const isFinal = ({ state }: { state: string }) => state === 'done';
  const caller = { signal: new AbortController().signal, admitAnew: async () => null };
  const texts: string[] = [];
  for await (const text of progressEvents(read, isFinal, caller, silentMs)) texts.push(text);
  return texts;
}

describe('the events of a run', () => {
  const states = [expect.stringContaining('"state":"paused"'), expect.stringContaining('"state":"done"')];

  it('are a comment after each silence, which keeps the stream open', async () => {
    expect(await said(3, 1)).toEqual([states[0], ': still there\n\n', states[1], 'data: [DONE]\n\n']);
  });

  it('are its changes alone while it does change', async () => {
    expect(await said(2)).toEqual([...states, 'data: [DONE]\n\n']);
  });
});
