import { execFile } from 'node:child_process';

/** What a program prints when asked a short question (its version); null when it fails or takes too long. */
export function askProgram(command: string, args: readonly string[], seconds = 20): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: seconds * 1000, encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve(error ? null : `${stdout}${stderr}`),
    );
  });
}
