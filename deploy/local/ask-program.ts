import { execFile } from 'node:child_process';

const TIMEOUT_MS = 20_000;

/** What a program prints when asked a short question (its version); null when it fails or takes too long. */
export function askProgram(command: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: TIMEOUT_MS, encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve(error ? null : `${stdout}${stderr}`),
    );
  });
}
