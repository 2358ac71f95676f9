/**
 * `npm run docs:session`: types the commands of an operator at a running stack and writes `docs/command-line.md`, so
 * that what stands there is what the present command line says.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectOpenSearch } from '../activities/stores/opensearch/connect-opensearch.js';
import { openInstantModelServer } from './bench/instant-model-server.js';
import { createFirstIndex } from './support/earlier-index.js';
import { runTamis, startTamis, wordsOf } from './support/run-tamis.js';
import { openStack } from './support/running-stack.js';
import { until } from './support/until.js';
import { uploadTexts } from './support/upload-texts.js';

const PAPER = new URL('../docs/command-line.md', import.meta.url);
const PARTITION = 'mill';

const models = await openInstantModelServer({ dimension: 256 });
const backups = mkdtempSync(join(tmpdir(), 'tamis-session-'));
const stack = await openStack({ BACKUP_LOCATION: backups });
const env = {
  TAMIS_URL: stack.base,
  TAMIS_TOKEN: stack.token,
  TAMIS_KEY: stack.config.proxy.dashboardApiKey!,
  MONGODB_URL: stack.config.mongodb.url,
  MONGODB_DATABASE: stack.config.mongodb.database,
  OPENSEARCH_URL: stack.config.opensearch.url,
  OPENSEARCH_INDEX_PREFIX: stack.config.opensearch.indexPrefix,
};
const parts: string[] = [];

/** Names of this run alone, as an installation has them. */
function cleaned(text: string): string {
  return text
    .replaceAll(stack.config.opensearch.indexPrefix, 'tamis-')
    .replaceAll(stack.base, 'http://127.0.0.1:8080')
    .replaceAll(models.url, 'http://models:11434')
    .replaceAll(backups, '/backups')
    .replaceAll(/\b(or-|tamis_)[\w-]{20,}/g, '$1…')
    .replaceAll(/ +$/gm, '')
    .trimEnd();
}

function say(...lines: string[]): void {
  parts.push(lines.join('\n'));
}

function shown(line: string, output: string, code: number | null): string {
  const ending = code === 0 ? [] : [`# exit code ${code}`];
  return [`$ tamis ${line}`, ...(output === '' ? [] : [cleaned(output)]), ...ending].join('\n');
}

/** Lines as one types them, one after the other. */
async function type(lines: readonly string[], settings: Record<string, string> = env): Promise<void> {
  const said: string[] = [];
  for (const line of lines) {
    const { code, out, err } = await runTamis(wordsOf(line), { env: settings });
    said.push(shown(line, `${out}${err}`, code));
  }
  say('```', said.join('\n\n'), '```');
}

/** A line that is watched until it says something, and then left by Ctrl-C. */
async function leave(line: string, sign: RegExp): Promise<void> {
  const { child, read, ended } = startTamis(wordsOf(line), { env });
  await until(`${line} says ${sign.source}`, async () => sign.test(read()), { withinMs: 60_000 });
  child.kill('SIGINT');
  const { code, out, err } = await ended;
  say('```', shown(line, `${out}^C${err}`, code), '```');
}

/** The help of a command and of those below it. */
async function helpOf(path: readonly string[]): Promise<void> {
  const { out } = await runTamis([...path, '--help'], { env: {} });
  const own = out.replace(/\nGlobal Options:[^]*?(?=\n\n|$)/, '');
  say(
    `### \`tamis${path.map((word) => ` ${word}`).join('')}\``,
    '',
    '```',
    cleaned(path.length === 0 ? out : own),
    '```',
  );
  const commands = (out.split('\nCommands:\n')[1] ?? '').matchAll(/^ {2}([a-z]+) ?/gm);
  for (const [, name = ''] of commands) if (name !== 'help') await helpOf([...path, name]);
}

try {
  const engine = connectOpenSearch({ url: stack.config.opensearch.url });
  const index = `${stack.config.opensearch.indexPrefix}chunks-v3`;
  await engine.client.request('DELETE', `/${index}`);
  const field = { vectorField: 'vector_builtin_hash', dimension: 1024 };
  await createFirstIndex(engine.client, index, [field]);
  await engine.close();
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  await uploadTexts(stack, PARTITION, { files: 20, paragraphs: 600 });
  const registered = await stack.request('/model-endpoints/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'new', model_type: 'embedder', endpoint: models.url, model_name: 'embed' }),
  });
  if (registered.status !== 201) throw new Error(`the embedder was refused: ${await registered.text()}`);

  say(
    '# The command line at work',
    '',
    '`npm run docs:session` types these lines at a gateway, a worker and engines of its own and writes what it reads; nothing',
    'here is written by hand. The index was made by the step before this release. What each command is for stands in',
    '[operations.md](operations.md).',
    '',
    '## A migration',
    '',
    'Searches and uploads go on meanwhile; only the switch at the end makes writers wait.',
  );
  await type(['upgrade check', 'migrate status vector-store', 'migrate run vector-store --dry-run']);
  say('A run is a workflow: it goes on when the command line, the gateway or a worker ends.');
  await leave('migrate run vector-store --pages-per-second 0.2 --watch', /copying: [1-9]/);
  await type(['migrate run vector-store', 'migrate pause vector-store']);
  await until('it has paused', async () => {
    const { out } = await runTamis(['migrate', 'status', 'vector-store'], { env });
    return out.includes('paused');
  });
  await type([
    'migrate status vector-store',
    'migrate resume vector-store',
    'migrate pace vector-store none',
    'migrate watch vector-store',
    'migrate verify vector-store',
    'indexes list',
  ]);
  say('The index that was replaced is kept for a rollback until it is dropped by its name.');
  await type([
    'migrate rollback vector-store',
    'migrate rollback vector-store --yes --watch',
    'indexes list',
  ]);
  say('On a terminal a run is one line with a bar; this is one moment of it.');
  const { out } = await runTamis(['migrate', 'run', 'vector-store', '--watch'], { env, columns: 100 });
  // What moves the cursor ends a moment.
  const moments = out.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '\n').split(/[\r\n]+/);
  say(
    '```',
    moments.findLast((moment) => /^\[█+░/.test(moment)) ??
      moments.find((moment) => moment.startsWith('[')) ??
      '',
    '```',
  );

  say('## Another embedder');
  await type([`swap start ${PARTITION} --to new --min-known-item 0.3 --watch`, `swap status ${PARTITION}`]);
  say('## By the clock');
  await type([
    'schedule list',
    "schedule set vector-store --cron '0 3 * * 0' --window-minutes 120 --note 'at night'",
    "schedule pause vector-store --note 'until the disk is larger'",
    'schedule list',
  ]);
  say('## A backup');
  await type(['backup run --watch', 'backup list', 'upgrade check']);
  say('## Users, keys, and what waits for the central API');
  await type([
    'users create Miller',
    'users list',
    'users delete 2 --yes',
    'keys create grafana --scope read',
    'keys list',
    'forwarding list',
    'check',
  ]);
  say('## Wrong use, and what is in the way');
  await type([
    'migrat list',
    'migrate run',
    'migrate run everything',
    'swap start mill --to nothing',
    'schedule set reconcile --cron never',
    'indexes drop tamis-chunks-v3',
    'migrate list --url http://127.0.0.1:9',
  ]);
  await type(['migrate list'], { TAMIS_URL: stack.base });
  await type(['config check'], { PORT: 'eighty' });
  say('## What each command says of itself', '', 'Global options are those of the first.');
  await helpOf([]);
} finally {
  await stack.close();
  await models.close();
  rmSync(backups, { recursive: true, force: true });
}
writeFileSync(PAPER, `${parts.join('\n\n')}\n`);
