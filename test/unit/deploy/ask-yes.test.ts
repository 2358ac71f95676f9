import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { askYes } from '../../../deploy/cli/tamis/ask-yes.js';
import { EXIT } from '../../../deploy/cli/tamis/cli-failure.js';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

/** A question in a terminal, at which these keys are typed. */
function typed(keys: string, signal = new AbortController().signal): Promise<boolean> {
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const [input, output] = [terminal(), terminal()];
  output.resume();
  const answer = askYes('Delete user 5?', { input, output }, signal);
  input.write(keys);
  return answer;
}

test.each([
  ['y\r', true],
  ['Yes\r', true],
  ['n\r', false],
  ['\r', false],
  ['yesterday\r', false],
  [CTRL_D, false],
])('%j is answered by %s', async (keys, isYes) => {
  expect(await typed(keys)).toBe(isYes);
});

test('Ctrl-C ends the command as interrupted, in words', async () => {
  const failure = { exitCode: EXIT.interrupted, message: 'Nothing was done.' };
  await expect(typed(CTRL_C)).rejects.toMatchObject(failure);
  await expect(typed(`y${CTRL_C}`)).rejects.toMatchObject(failure);
});

test('a signal ends the question', async () => {
  await expect(typed('y', AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
});
