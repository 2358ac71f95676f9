import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { count } from '../arguments.js';
import { CliFailure, EXIT } from '../cli-failure.js';
import type { Context, Run } from '../context.js';
import { formatTable, formatTime } from '../format.js';
import { weigh } from './eval-weigh.js';
import { interval, pathOf, runPath, signed, watchRun } from '../evaluation.js';
import type { EvaluationRun, Figure } from '../evaluation.js';

/** What is read of the answers here; the gateway answers more. */
interface QuestionSet {
  name: string;
  version: number;
  questions: number;
  not_answerable: number;
  note: string | null;
  created_at: string;
}

interface Change {
  question: string;
  before: Record<string, number>;
  after: Record<string, number>;
}

interface Comparison {
  before: EvaluationRun;
  after: EvaluationRun;
  questions: number;
  only_before: number;
  only_after: number;
  measures: Record<
    string,
    { before: number; after: number; difference: Figure; better: number; worse: number; same: number }
  >;
  better: Change[];
  worse: Change[];
}

const SHOWN_QUESTION = 72;
const NAMES: Record<string, string> = {
  ndcg_10: 'nDCG@10',
  recall_10: 'recall@10',
  recall_50: 'recall@50',
  mrr: 'MRR',
  citation_precision: 'citation precision',
  citation_recall: 'citation recall',
  verified: 'verified sentences',
  answer_recall: 'words of the answer',
  refused_right: 'refused rightly',
  refused_wrong: 'refused wrongly',
};

function setPath(partition: string, set: string): string {
  return pathOf(partition, `/question-sets/${encodeURIComponent(set)}`);
}

/** `tamis eval`: question sets, runs over them, and what got better or worse between two. */
export function addEval(program: Command, run: Run): void {
  const group = program
    .command('eval')
    .description('how well a partition is searched and answered from, by questions with known answers');
  group
    .command('sets')
    .description('question sets of a partition')
    .argument('<partition>', 'its name')
    .action(run(listSets));
  group
    .command('upload')
    .description('a question set, or a new version of one, from a .jsonl or .csv file')
    .argument('<partition>', 'its name')
    .argument('<set>', 'name of the set')
    .argument('<file>', 'the questions')
    .option('--note <text>', 'where the questions come from')
    .action(run(upload));
  group
    .command('run')
    .description('ask every question of a set')
    .argument('<partition>', 'its name')
    .argument('<set>', 'name of the set')
    .option('--set-version <n>', 'of the set; the newest by default', count(1))
    .option('--label <text>', 'what to call the run')
    .option('--preset <name>', "a retrieval preset; the partition's by default")
    .option('--top-k <n>', 'chunks asked of search', count(1))
    .option('--chat', 'ask chat as well; costs an answer of the model for each question')
    .option('--watch', 'show progress until it ends; Ctrl-C leaves it running')
    .action(run(start));
  group
    .command('list')
    .description('runs of a partition, the newest first')
    .argument('<partition>', 'its name')
    .action(run(listRuns));
  group
    .command('show')
    .description('the figures of a run; without its id, of the newest')
    .argument('<partition>', 'its name')
    .argument('[run]', 'its id')
    .action(
      run(async (context, _options, partition: string, runId?: string) => {
        const found = await findRun(context, partition, runId);
        context.show(found, describe(found));
      }),
    );
  group
    .command('watch')
    .description('show progress of a run until it ends; Ctrl-C leaves it running')
    .argument('<partition>', 'its name')
    .argument('[run]', 'its id; the newest by default')
    .action(
      run(async (context, _options, partition: string, runId?: string) =>
        follow(context, partition, (await findRun(context, partition, runId)).run_id),
      ),
    );
  group
    .command('compare')
    .description('two runs question by question')
    .argument('<partition>', 'its name')
    .argument('<before>', 'id of the earlier run')
    .argument('<after>', 'id of the later run')
    .option('--by <measure>', `what got better or worse: ${Object.keys(NAMES).join(', ')}`, 'ndcg_10')
    .option('--limit <n>', 'questions shown on each side', count(0), 10)
    .action(run(compare));
  group
    .command('weigh')
    .description('a run with each weight of the vectors against the words, and which of them is best')
    .argument('<partition>', 'its name')
    .argument('<set>', 'name of the set')
    .option('--set-version <n>', 'of the set; the newest by default', count(1))
    .option('--preset <name>', "a retrieval preset; the partition's by default")
    .action(run(weigh));
  group
    .command('cancel')
    .description('end the run that is under way; its results stay')
    .argument('<partition>', 'its name')
    .action(
      run(async (context, _options, partition: string) => {
        const { run_id: runId } = await findRun(context, partition);
        const body = await context.gateway().ask('POST', `${runPath(partition, runId)}/cancel`);
        context.show(body, [`The run ${runId} is cancelled.`]);
      }),
    );
}

async function listSets(context: Context, _options: object, partition: string): Promise<void> {
  const body = await context
    .gateway()
    .ask<{ question_sets: QuestionSet[] }>('GET', pathOf(partition, '/question-sets'));
  const rows = body.question_sets.map((set) => [
    set.name,
    String(set.version),
    String(set.questions),
    String(set.not_answerable),
    formatTime(set.created_at),
    set.note ?? '',
  ]);
  const heads = ['set', 'version', 'questions', 'not answerable', 'uploaded', 'note'];
  context.show(body, rows.length === 0 ? ['There is no question set.'] : formatTable(heads, rows));
}

async function upload(
  context: Context,
  { note }: { note?: string },
  partition: string,
  set: string,
  file: string,
): Promise<void> {
  const format = /\.(jsonl|ndjson)$/i.test(file) ? 'jsonl' : /\.(csv|tsv)$/i.test(file) ? 'csv' : null;
  if (format === null)
    throw new CliFailure(EXIT.wrongUse, 'The file must be named .jsonl, .ndjson, .csv or .tsv.');
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new CliFailure(EXIT.wrongUse, `${file} cannot be read: ${(error as Error).message}`);
  });
  // Each byte that is none would become a replacement character, in what is asked and measured.
  if (!isUtf8(bytes))
    throw new CliFailure(EXIT.wrongUse, `${file} is not UTF-8. In Excel, save it as "CSV UTF-8".`);
  const content = bytes.toString('utf8');
  const body = await context.gateway().ask<QuestionSet>('POST', setPath(partition, set), {
    format,
    content,
    ...(note === undefined ? {} : { note }),
  });
  context.show(body, [`Version ${body.version} of ${body.name}: ${body.questions} questions.`]);
}

interface StartOptions {
  setVersion?: number;
  label?: string;
  preset?: string;
  topK?: number;
  chat?: boolean;
  watch?: boolean;
}

async function start(context: Context, options: StartOptions, partition: string, set: string): Promise<void> {
  const { setVersion: version, label, preset, topK, chat } = options;
  const asked = { set, version, label, preset, top_k: topK, chat };
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
  const body = await context.gateway().ask<EvaluationRun>('POST', pathOf(partition, '/runs'), given);
  if (options.watch === true) return follow(context, partition, body.run_id);
  context.show(body, [
    `Started: ${body.run_id}, ${body.questions_total} questions.`,
    `Watch it: tamis eval watch ${partition}`,
  ]);
}

async function listRuns(context: Context, _options: object, partition: string): Promise<void> {
  const body = await context.gateway().ask<{ runs: EvaluationRun[] }>('GET', pathOf(partition, '/runs'));
  const rows = body.runs.map((one) => [
    one.run_id,
    formatTime(one.started_at),
    `${one.set} v${one.version}`,
    one.status,
    `${one.questions_done}/${one.questions_total}`,
    one.summary?.measures['ndcg_10']?.mean.toFixed(3) ?? '-',
    one.label ?? '',
  ]);
  const heads = ['run', 'started', 'set', 'status', 'asked', 'nDCG@10', 'label'];
  context.show(body, rows.length === 0 ? ['There is no run.'] : formatTable(heads, rows));
}

/** The newest where none is named. */
async function findRun(context: Context, partition: string, runId?: string): Promise<EvaluationRun> {
  const gateway = context.gateway();
  if (runId !== undefined) return gateway.ask('GET', runPath(partition, runId));
  const [newest] = (await gateway.ask<{ runs: EvaluationRun[] }>('GET', pathOf(partition, '/runs'))).runs;
  if (newest === undefined) throw new CliFailure(EXIT.failed, `There never was a run over ${partition}.`);
  return newest;
}

function describe(run: EvaluationRun): string[] {
  const { summary, settings, questions_done: done, questions_total: total } = run;
  const rows = Object.entries(NAMES).flatMap(([measure, name]) => {
    const figure = summary?.measures[measure];
    if (figure === undefined) return [];
    return [[name, figure.mean.toFixed(3), interval(figure), String(figure.count)]];
  });
  const latency = (name: string, times: { p50: number; p95: number } | null): string[] =>
    times === null ? [] : [`${name}: ${times.p50} ms, 95 % within ${times.p95} ms`];
  return [
    `run ${run.run_id}${run.label === null ? '' : ` (${run.label})`}`,
    `${run.set} v${run.version}, preset ${settings.preset ?? 'of the partition'}, started ${formatTime(run.started_at)}`,
    `${run.status}, ${done} of ${total} questions asked${summary === null ? '' : `, ${summary.failed} failed`}`,
    ...(run.error === null ? [] : [run.error]),
    ...(rows.length === 0 ? [] : ['', ...formatTable(['measure', 'mean', '95 %', 'questions'], rows)]),
    ...(summary === null ? [] : ['', ...latency('search', summary.search), ...latency('chat', summary.chat)]),
  ];
}

interface CompareOptions {
  by: string;
  limit: number;
}

async function compare(
  context: Context,
  { by, limit }: CompareOptions,
  partition: string,
  before: string,
  after: string,
): Promise<void> {
  const query = new URLSearchParams({ before, measure: by, limit: String(limit) }).toString();
  const body = await context
    .gateway()
    .ask<Comparison>('GET', `${runPath(partition, after)}/comparison?${query}`);
  context.show(body, describeComparison(body, by));
}

function describeComparison(compared: Comparison, by: string): string[] {
  const rows = Object.entries(NAMES).flatMap(([measure, name]) => {
    const one = compared.measures[measure];
    if (one === undefined) return [];
    const { before, after, difference, better, worse, same } = one;
    return [
      [
        name,
        before.toFixed(3),
        after.toFixed(3),
        signed(difference.mean),
        `${signed(difference.low)} to ${signed(difference.high)}`,
        difference.low > 0 || difference.high < 0 ? 'yes' : 'no',
        `${better}/${worse}/${same}`,
      ],
    ];
  });
  const heads = ['measure', 'before', 'after', 'change', '95 %', 'beyond chance', 'better/worse/same'];
  const { questions, only_before: gone, only_after: added } = compared;
  return [
    `${questions} questions asked by both${gone + added === 0 ? '' : `; ${gone} by the first alone, ${added} by the second alone`}`,
    '',
    ...formatTable(heads, rows),
    ...describeChanges('Better', compared.better, by),
    ...describeChanges('Worse', compared.worse, by),
  ];
}

function describeChanges(title: string, changes: readonly Change[], by: string): string[] {
  if (changes.length === 0) return [];
  const rows = changes.map(({ question, before, after }) => [
    (before[by] ?? 0).toFixed(3),
    (after[by] ?? 0).toFixed(3),
    shortened(question),
  ]);
  return ['', ...formatTable([`${title}: before`, 'after', 'question'], rows)];
}

function shortened(question: string): string {
  const line = question.replace(/\s+/g, ' ');
  return line.length <= SHOWN_QUESTION ? line : `${line.slice(0, SHOWN_QUESTION - 1)}…`;
}

async function follow(context: Context, partition: string, runId: string): Promise<void> {
  const end = await watchRun(context, partition, runId);
  if (!context.json) for (const line of describe(end)) context.write(`${line}\n`);
  if (end.status !== 'completed') throw new CliFailure(EXIT.failed, `The run ended ${end.status}.`);
}
