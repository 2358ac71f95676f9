import type { Command } from 'commander';
import { askYes } from './ask-yes.js';
import { CliFailure, EXIT } from './cli-failure.js';
import { findTarget } from './find-target.js';
import type { TargetOptions } from './find-target.js';
import { connectGateway } from './gateway.js';
import type { Gateway } from './gateway.js';

/** What every command works with. */
export interface Context {
  env: NodeJS.ProcessEnv;
  /** Ctrl-C. */
  signal: AbortSignal;
  /** Whether a person watches: progress is a bar then. */
  isTerminal: boolean;
  /** Whether a script wants JSON. */
  json: boolean;
  columns: number;
  write(text: string): void;
  /** In JSON the value as it is, otherwise these lines. */
  show(value: unknown, lines: readonly string[]): void;
  gateway(): Gateway;
  /** @throws CliFailure unless the answer is yes */
  confirm(question: string, options: { yes?: boolean }): Promise<void>;
}

type Work<Options extends object, Args extends unknown[]> = (
  context: Context,
  options: Options,
  ...args: Args
) => Promise<void>;

/** Makes of a command's work what commander calls: arguments first, then options, then the command. */
export type Run = <Options extends object, Args extends unknown[]>(
  work: Work<Options, Args>,
) => (...given: unknown[]) => Promise<void>;

type GlobalOptions = TargetOptions & { json?: boolean };

export function contextOf(command: Command, signal: AbortSignal): Context {
  const options = command.optsWithGlobals<GlobalOptions>();
  const { env, stdout, stdin } = process;
  const json = options.json === true;
  const write = (text: string): void => void stdout.write(text);
  return {
    env,
    signal,
    json,
    write,
    isTerminal: stdout.isTTY && !json && env['TERM'] !== 'dumb',
    columns: stdout.columns ?? 80,
    show(value, lines) {
      write(json ? `${JSON.stringify(value, null, 2)}\n` : lines.map((line) => `${line}\n`).join(''));
    },
    gateway: () => connectGateway(findTarget(options, env), signal),
    async confirm(question, { yes }) {
      if (yes === true) return;
      if (!stdin.isTTY || !stdout.isTTY)
        throw new CliFailure(EXIT.wrongUse, `${question} Add --yes to do it without being asked.`);
      const isYes = await askYes(question, { input: stdin, output: stdout }, signal);
      if (!isYes) throw new CliFailure(EXIT.failed, 'Nothing was done.');
    },
  };
}
