import type { QuestionResult } from '../../schemas/retrieval/evaluation.js';
import { askStack } from './ask-stack.js';
import { endOfRun, readResults, readRun, startRun, uploadQuestions } from './evaluate.js';
import type { Run } from './evaluate.js';
import { generatedText } from './generated-text.js';
import type { RunningStack } from './running-stack.js';
import { until } from './until.js';
import { uploadTexts } from './upload-texts.js';

const PARTITION = 'mill';
const PATH = `/evaluation/partition/${PARTITION}`;

export interface EvaluationReport {
  questions: number;
  kills: number;
  /** Seconds of the undisturbed run, and of the one whose worker was killed. */
  seconds: [undisturbed: number, killed: number];
  /** Of the undisturbed run. */
  summary: Run['summary'];
  faults: string[];
}

/** A question is the beginning of one of a file's paragraphs. */
function questionsOver(files: number, paragraphs: number, count: number) {
  return Array.from({ length: count }, (_, index) => {
    const file = index % files;
    const text = generatedText(file, paragraphs).split('\n\n')[Math.floor(index / files) % paragraphs]!;
    const question = text.split(' ').slice(4, 14).join(' ');
    return { id: `q${index}`, question, relevant: [`file-${file}`] };
  });
}

/** What must be the same however often a worker was killed: everything but times. */
function figuresOf({ summary }: Run): unknown {
  return summary && { failed: summary.failed, measures: summary.measures };
}

function judgementOf({ search_ms: _ms, chat, ...result }: QuestionResult): unknown {
  return { ...result, chat: chat && { ...chat, ms: 0 } };
}

/**
 * The same questions twice, of search and of chat: once undisturbed, and once with a worker that is killed so many
 * times while it asks. Both runs must come to the same results and figures.
 */
export async function evaluateWithKills(
  stack: RunningStack,
  { files, paragraphs, questions, kills }: Record<'files' | 'paragraphs' | 'questions' | 'kills', number>,
): Promise<EvaluationReport> {
  const faults: string[] = [];
  await uploadTexts(stack, PARTITION, { files, paragraphs });
  await uploadQuestions(stack, PARTITION, 'main', questionsOver(files, paragraphs, questions));

  const timed = async (work: (runId: string) => Promise<void>): Promise<{ run: Run; seconds: number }> => {
    const began = performance.now();
    const runId = await startRun(stack, PARTITION, { set: 'main', chat: true });
    await work(runId);
    const run = await endOfRun(stack, PARTITION, runId);
    if (run.status !== 'completed') faults.push(`a run ended ${run.status}: ${run.error}`);
    if (run.questions_done !== questions) faults.push(`${run.questions_done} questions have a result`);
    return { run, seconds: (performance.now() - began) / 1000 };
  };

  const first = await timed(async () => undefined);
  let killed = 0;
  const second = await timed(async (runId) => {
    for (let turn = 1; turn <= kills; turn += 1) {
      const wanted = Math.floor((turn * questions) / (kills + 1));
      const run = await until(
        `${wanted} questions are asked`,
        async () => {
          const now = await readRun(stack, PARTITION, runId);
          return (now.status !== 'running' || now.questions_done >= wanted) && now;
        },
        { withinMs: 600_000, everyMs: 5 },
      );
      if (run.status !== 'running') return;
      await stack.killWorker();
      killed += 1;
      await stack.startWorker();
    }
  });

  const resultsOf = async ({ run_id: runId }: Run): Promise<unknown[]> =>
    (await readResults(stack, PARTITION, runId)).map(judgementOf);
  const [before, after] = [await resultsOf(first.run), await resultsOf(second.run)];
  for (const [index, result] of before.entries())
    if (JSON.stringify(result) !== JSON.stringify(after[index]))
      faults.push(`question ${index}: ${JSON.stringify(result)} became ${JSON.stringify(after[index])}`);
  if (JSON.stringify(figuresOf(first.run)) !== JSON.stringify(figuresOf(second.run)))
    faults.push(`${JSON.stringify(figuresOf(first.run))} became ${JSON.stringify(figuresOf(second.run))}`);
  const { body: compared } = await askStack<{ better: unknown[]; worse: unknown[] }>(
    stack,
    'GET',
    `${PATH}/runs/${second.run.run_id}/comparison?before=${first.run.run_id}`,
  );
  if (compared.better.length + compared.worse.length > 0) faults.push(JSON.stringify(compared));
  return {
    questions,
    kills: killed,
    seconds: [first.seconds, second.seconds],
    summary: first.run.summary,
    faults: faults.slice(0, 10),
  };
}
