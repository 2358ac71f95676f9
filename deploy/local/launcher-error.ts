import { readFileSync } from 'node:fs';

/** Some servers write their whole start-up graph into one line. */
const LINE_LIMIT = 400;

/** A failure told the way a person can act on it: what failed, the command, its last words, and what to do. */
export class LauncherError extends Error {
  readonly command: string | undefined;
  readonly log: string | undefined;
  readonly advice: readonly string[];

  constructor(message: string, details: { command?: string; log?: string; advice?: readonly string[] } = {}) {
    super(message);
    this.name = 'LauncherError';
    this.command = details.command;
    this.log = details.log;
    this.advice = details.advice ?? [];
  }

  /** Several lines for the terminal. The log is read here, late, so that it holds what was written last. */
  explain(): string {
    const lines = [this.message];
    if (this.command) lines.push(`  command: ${this.command}`);
    if (this.log) {
      const tail = lastLines(this.log, 15);
      lines.push(tail.length > 0 ? `  last lines of ${this.log}:` : `  ${this.log} is empty`);
      lines.push(...tail.map((line) => `    | ${line}`));
    }
    lines.push(...this.advice.map((line) => `  → ${line}`));
    return lines.join('\n');
  }
}

/** The end of a log, for people; nothing where there is no log. */
export function lastLines(file: string, count: number): string[] {
  try {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).filter(Boolean);
    return lines.map((line) => (line.length > LINE_LIMIT ? `${line.slice(0, LINE_LIMIT)} …` : line));
  } catch {
    return [];
  }
}
