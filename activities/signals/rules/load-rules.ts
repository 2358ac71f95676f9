import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CompiledRule } from './compiled-rule.js';
import { parseRuleFile } from './parse-rule-file.js';

/** Something an operator should look at; the message names the line. */
export interface RuleFault {
  file: string;
  message: string;
}

const FILE_BYTES_LIMIT = 256 * 1024;

/** `.yaml` and `.yml`; what starts with `_` or `.` is left out (so are the hidden folders of a mounted config map). */
function isRuleFile(name: string): boolean {
  return /\.ya?ml$/.test(name) && !/^[_.]/.test(name);
}

function reasonOf(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : String(error);
}

/** @throws Error whose message says why the file cannot be used */
async function readRuleText(file: string): Promise<string> {
  const found = await stat(file);
  // Asked before it is opened: a named pipe would wait for a writer for ever.
  if (!found.isFile()) throw new Error('line 1: this is not a file');
  if (found.size > FILE_BYTES_LIMIT)
    throw new Error(`line 1: the file is larger than ${FILE_BYTES_LIMIT} bytes`);
  const bytes = await readFile(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('line 1: the file is not UTF-8');
  }
}

/**
 * Reads the rules of some folders: the folders in the order given, the files of each in name order, one rule a file.
 * A broken file stops nothing: the others load, and the fault is answered beside them, for the log and for
 * `GET /api/forwarding`.
 */
export async function loadRules(options: {
  directories: readonly string[];
}): Promise<{ rules: CompiledRule[]; faults: RuleFault[] }> {
  const rules: CompiledRule[] = [];
  const faults: RuleFault[] = [];
  for (const directory of new Set(options.directories.map((path) => resolve(path)))) {
    let names: string[] = [];
    try {
      names = (await readdir(directory)).filter(isRuleFile).sort();
    } catch (error) {
      faults.push({ file: directory, message: `the folder cannot be read: ${reasonOf(error)}` });
    }
    for (const name of names) {
      const file = join(directory, name);
      try {
        const { rule, problems } = parseRuleFile(await readRuleText(file));
        if (rule !== null) rules.push({ ...rule, file });
        faults.push(...problems.map((message) => ({ file, message })));
      } catch (error) {
        const known = error instanceof Error && error.message.startsWith('line ');
        faults.push({ file, message: known ? error.message : `line 1: cannot be read: ${reasonOf(error)}` });
      }
    }
  }
  return { rules, faults };
}
