/** One line of a Dockerfile's stage, in order. */
type Instruction =
  | {
      readonly kind: 'copy';
      readonly from: string | null;
      readonly sources: string[];
      readonly target: string;
    }
  | { readonly kind: 'run'; readonly command: string }
  | { readonly kind: 'env'; readonly values: Record<string, string> };

export interface Stage {
  readonly name: string;
  /** An image, or an earlier stage's name. */
  readonly base: string;
  readonly steps: readonly Instruction[];
  readonly user: string | null;
  readonly command: readonly string[] | null;
  readonly healthCheck: readonly string[] | null;
}

/** Reads the part of the Dockerfile language that `deploy/Dockerfile` uses. @throws Error on anything else */
// eslint-disable-next-line complexity -- one branch for each instruction
export function parseDockerfile(text: string): Stage[] {
  const stages: (Stage & { steps: Instruction[] })[] = [];
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const word = line.slice(0, line.indexOf(' '));
    const rest = line.slice(line.indexOf(' ') + 1).trim();
    if (word === 'FROM') {
      const [, base = '', name = ''] = /^(\S+) AS (\S+)$/.exec(rest) ?? [];
      if (name === '') throw new Error(`a stage needs a name: ${line}`);
      stages.push({ name, base, steps: [], user: null, command: null, healthCheck: null });
      continue;
    }
    const stage = stages.at(-1);
    if (!stage) throw new Error(`before the first stage: ${line}`);
    if (word === 'COPY') stage.steps.push(copyOf(rest));
    else if (word === 'RUN') stage.steps.push({ kind: 'run', command: rest.replace(/^(--\S+\s+)*/, '') });
    else if (word === 'ENV') stage.steps.push({ kind: 'env', values: pairs(rest) });
    else if (word === 'USER') Object.assign(stage, { user: rest });
    else if (word === 'CMD') Object.assign(stage, { command: JSON.parse(rest) as string[] });
    else if (word === 'HEALTHCHECK')
      Object.assign(stage, { healthCheck: JSON.parse(rest.slice(rest.indexOf('CMD ') + 4)) as string[] });
    else if (!['WORKDIR', 'EXPOSE'].includes(word)) throw new Error(`not understood: ${line}`);
  }
  return stages;
}

/** A stage after the stages that it builds on, nearest last. */
export function lineage(stages: readonly Stage[], name: string): Stage[] {
  const stage = stages.find((known) => known.name === name);
  return stage === undefined ? [] : [...lineage(stages, stage.base), stage];
}

/** What a `.dockerignore` of plain paths and `*`, with `!` for exceptions, lets through; the last match decides. */
export function isSent(ignore: string, path: string): boolean {
  let sent = true;
  for (const line of ignore.split('\n').map((text) => text.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const pattern = line.replace(/^!/, '');
    if (pattern === '*' || path === pattern || path.startsWith(`${pattern}/`)) sent = line.startsWith('!');
  }
  return sent;
}

function copyOf(rest: string): Instruction {
  const words = rest.split(/\s+/);
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length) ?? null;
  const paths = words.filter((word) => !word.startsWith('--'));
  return { kind: 'copy', from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' };
}

/** `NAME=value NAME="a value with spaces"`. @throws Error on quotes or escapes of another kind */
function pairs(rest: string): Record<string, string> {
  const words = rest.match(/[^\s"]+=(?:"[^"]*"|[^\s"]*)|\S+/g) ?? [];
  return Object.fromEntries(
    words.map((word) => {
      const [, name, quoted, plain = ''] = /^([^="]+)=(?:"([^"\\$]*)"|([^"'\\$]*))$/.exec(word) ?? [];
      if (name === undefined) throw new Error(`not understood: ENV ${rest}`);
      return [name, quoted ?? plain];
    }),
  );
}
