import { CommanderError } from 'commander';
import { CliFailure, EXIT } from './cli-failure.js';
import { createProgram } from './program.js';

const SHOWN = new Set(['commander.helpDisplayed', 'commander.version']);

const LEAVE_MS = 1_000;

const wantsJson = process.argv.includes('--json');
const stop = new AbortController();
// More than one may come for one Ctrl-C: from the terminal, and handed on by npx.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, leave);
// A reader that left (`tamis … | head`) is no failure.
process.stdout.on('error', () => undefined);

const code = await main();
process.stdout.write('', () => process.exit(code));

async function main(): Promise<number> {
  try {
    await createProgram(stop.signal, { isQuiet: wantsJson }).parseAsync();
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (SHOWN.has(error.code)) return EXIT.ok;
      // In words it has been written already, with a hint at the help.
      if (wantsJson) complain(new CliFailure(EXIT.wrongUse, wordsOf(error)));
      return EXIT.wrongUse;
    }
    if (stop.signal.aborted && !isInterruption(error)) return EXIT.interrupted;
    if (!(error instanceof CliFailure)) throw error;
    complain(error);
    return error.exitCode;
  }
}

/** What is under way ends by itself, and what does not is left. */
function leave(): void {
  stop.abort();
  setTimeout(() => process.exit(EXIT.interrupted), LEAVE_MS).unref();
}

function isInterruption(error: unknown): boolean {
  return error instanceof CliFailure && error.exitCode === EXIT.interrupted;
}

function complain({ exitCode, message, status }: CliFailure): void {
  const words = exitCode === EXIT.interrupted ? message : `✗ ${message}`;
  const text = wantsJson ? JSON.stringify({ error: { message, status, exit_code: exitCode } }) : words;
  process.stderr.write(`${text}\n`);
}

/** Its help is the message where a group of commands is called without one. */
function wordsOf({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'A command is missing.' : message.replace(/^error: /, '');
}
