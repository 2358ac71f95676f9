import { createInterface } from 'node:readline/promises';
import { CliFailure, EXIT } from './cli-failure.js';

export interface Terminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/**
 * Whether the answer is yes; Ctrl-D is no answer, hence no.
 * @throws CliFailure on Ctrl-C, which is a key here and sends no signal: readline has the terminal in raw mode
 */
export function askYes(question: string, { input, output }: Terminal, signal: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input, output });
  return new Promise<boolean>((resolve, reject) => {
    lines.once('SIGINT', () => {
      output.write('\n');
      reject(new CliFailure(EXIT.interrupted, 'Nothing was done.'));
    });
    lines.once('close', () => {
      output.write('\n');
      resolve(false);
    });
    lines.question(`${question} [y/N] `, { signal }).then((answer) => {
      resolve(/^y(?:es)?$/i.test(answer.trim()));
    }, reject);
  }).finally(() => lines.removeAllListeners('close').close());
}
