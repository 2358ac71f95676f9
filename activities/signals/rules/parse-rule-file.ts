import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument, visit } from 'yaml';
import type { Document, Node } from 'yaml';
import type { CompiledRule, RulePath } from './compiled-rule.js';
import { compileRule } from './compile-rule.js';

export interface ParsedRuleFile {
  rule: CompiledRule | null;
  /** Each names its line. With a rule beside them they are notes only. */
  problems: string[];
}

/** How far aliases may multiply what is written; beyond it the file is an alias bomb. */
const ALIAS_LIMIT = 100;
/** A file that is no rule at all can be wrong in a thousand places; the first ones are enough. */
const PROBLEMS_LIMIT = 20;

/** Where a path begins in the text, or the mapping that lacks it. */
// eslint-disable-next-line complexity -- one branch for each kind of node
function offsetOf(document: Document, path: RulePath): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const key of path) {
    if (isAlias(node)) break;
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && item.key.value === key);
      // What is missing is missing from this mapping: its first line says where.
      if (pair === undefined) return node.range?.[0] ?? offset;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else break;
  }
  return offset;
}

interface Oddity {
  offset: number;
  message: string;
}

/** What the parser itself would look for in quadratic time: keys that stand twice, and aliases without end. */
function findOddities(document: Document): { found: Oddity[]; firstAlias: number } {
  const found: Oddity[] = [];
  let [aliases, firstAlias] = [0, 0];
  visit(document, {
    Map: (_, { items }) => {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value))
          found.push({
            offset: key.range?.[0] ?? 0,
            message: `the key ${JSON.stringify(key.value)} stands twice`,
          });
        keys.add(key.value);
      }
    },
    Alias: (_, { range }) => {
      aliases += 1;
      if (aliases === 1) firstAlias = range?.[0] ?? 0;
    },
  });
  if (aliases > ALIAS_LIMIT)
    found.push({ offset: firstAlias, message: `there are more than ${ALIAS_LIMIT} aliases` });
  return { found, firstAlias };
}

/**
 * Reads the YAML text of one rule. Never throws: whatever is wrong is a problem with its line.
 * @param options.strict a pattern that cannot be used costs the rule: for one that is being written
 */
export function parseRuleFile(text: string, { strict = false } = {}): ParsedRuleFile {
  const lines = new LineCounter();
  const at = (offset: number, message: string): string =>
    `line ${lines.linePos(offset).line || 1}: ${message}`;
  let document: Document;
  try {
    document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      logLevel: 'error',
      uniqueKeys: false,
    });
  } catch {
    // Brackets by the thousand exhaust the parser's stack.
    return { rule: null, problems: ['line 1: this cannot be read as YAML'] };
  }
  if (document.errors.length > 0)
    return {
      rule: null,
      problems: document.errors.slice(0, PROBLEMS_LIMIT).map((error) => at(error.pos[0], error.message)),
    };
  let source: unknown;
  const { found, firstAlias } = findOddities(document);
  if (found.length > 0)
    return {
      rule: null,
      problems: found.slice(0, PROBLEMS_LIMIT).map(({ offset, message }) => at(offset, message)),
    };
  try {
    source = document.toJS({ maxAliasCount: ALIAS_LIMIT });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { rule: null, problems: [at(firstAlias, message)] };
  }
  const problems: string[] = [];
  let refused = false;
  const rule = compileRule(source, (path, message, weight) => {
    refused ||= strict && weight === 'never';
    if (problems.length < PROBLEMS_LIMIT) problems.push(at(offsetOf(document, path), message));
  });
  return { rule: refused ? null : rule, problems };
}
