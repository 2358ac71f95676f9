/** What documents say of the configuration, written from `schemas/config/environment.ts`. */
import { VARIABLE_GROUPS } from '../../schemas/config/environment.js';
import type { DescribedVariable } from '../../schemas/config/variable-notes.js';

const WIDTH = 118;

interface Document {
  /** In the clone. */
  readonly file: string;
  readonly begin: string;
  readonly end: string;
  /** What stands between the marks; `rest` is the text outside of them. */
  readonly block: (rest: string) => string;
}

/** The documents with a part that is written from the configuration. */
export const CONFIGURATION_DOCUMENTS: readonly Document[] = [
  {
    file: 'README.md',
    begin: '<!-- Written by `npm run write:config` from schemas/config/environment.ts. -->',
    end: '<!-- End of what is written. -->',
    block: readmeTables,
  },
  {
    file: 'deploy/env.example',
    begin: '# --- From here on written by `npm run write:config` from schemas/config/environment.ts. ---',
    end: '# --- End of what is written. ---',
    block: exampleVariables,
  },
];

/** @throws Error when the marks are not there */
export function withBlock(document: Document, text: string): string {
  const [head, written, ...more] = text.split(`${document.begin}\n`);
  const [, tail, ...evenMore] = (written ?? '').split(document.end);
  if (head === undefined || tail === undefined || more.length > 0 || evenMore.length > 0)
    throw new Error(`${document.file} does not hold each of its marks once`);
  return `${head}${document.begin}\n\n${document.block(head + tail)}\n${document.end}${tail}`;
}

function readmeTables(): string {
  const tables = VARIABLE_GROUPS.map(({ title, variables }) => {
    const rows = variables.map(
      ({ name, meaning, ...rest }) => `| \`${name}\` | ${shown(rest)} | ${meaning} |`,
    );
    return [`### ${title}`, '', '| Variable | Default | Meaning |', '|---|---|---|', ...rows, ''].join('\n');
  });
  return tables.join('\n');
}

function shown({ fallback, unit, unset }: Pick<DescribedVariable, 'fallback' | 'unit' | 'unset'>): string {
  if (fallback === null) return unset === undefined ? 'unset' : `unset: ${unset}`;
  const value = Number.isNaN(Number(fallback)) ? `\`${fallback}\`` : fallback;
  return unit === undefined ? value : `${value} ${unit}`;
}

/** Every variable with its default, but those that the compose file fixes and those explained outside. */
function exampleVariables(rest: string): string {
  const explained = new Set([...rest.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name));
  const groups = VARIABLE_GROUPS.map(({ title, variables }) => {
    const offered = variables.filter(({ name, fixedByCompose }) => !fixedByCompose && !explained.has(name));
    return [`# ${title}`, ...offered.flatMap((variable) => ['', ...exampleLines(variable)]), ''].join('\n');
  });
  return groups.join('\n');
}

function exampleLines({ name, meaning, unit, unset, fallback }: DescribedVariable): string[] {
  const said = [
    meaning,
    unit === undefined ? '' : ` (${unit})`,
    unset === undefined ? '' : `. Unset: ${unset}`,
  ];
  return [...commentLines(said.join('').replaceAll('`', '')), `#${name}=${fallback ?? ''}`];
}

function commentLines(text: string): string[] {
  const lines: string[] = [];
  let line = '#';
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = '#';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}
