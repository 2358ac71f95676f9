import { randomUUID } from 'node:crypto';
import { createEmbeddingActivities } from '../../activities/documents/embedding-activities.js';
import { createPublisher } from '../../activities/documents/publish-version.js';
import { bundledPromptSource } from '../../activities/models/seeds/prompt-source.js';
import { createChatService } from '../../activities/retrieval/chat/chat-service.js';
import { parseConfig } from '../../schemas/config/config.js';
import type { EvaluationQuestion, EvaluationStart } from '../../schemas/retrieval/evaluation.js';
import { plainSearch } from './plain-search.js';
import { activityBench, inActivity, refOf, scriptedParser } from './activity-bench.js';

/** The names are far from each other, so that each question finds its file first. */
const NAMES = ['otter', 'quartz', 'violin', 'saffron', 'glacier', 'lantern', 'tundra', 'falcon'];

/** A question for each file of the partition, which is named like what it is about. */
function questionsAbout(names: readonly string[]): EvaluationQuestion[] {
  return names.map((name) => ({
    id: name,
    question: `What is a ${name}?`,
    relevant: [{ file_id: name, passage: null, grade: 1 }],
    expected_answer: null,
    not_answerable: false,
  }));
}

/**
 * A partition over stores in memory whose files answer a question each, a set of these questions, a run that may begin,
 * and the services that it asks.
 */
export async function openEvaluationStage({ files, ...more }: { files: number } & Partial<EvaluationStart>) {
  const names = NAMES.slice(0, files);
  let text = '';
  const bench = await activityBench({
    parseAndChunk: (...args) => scriptedParser([text]).parseAndChunk(...args),
  });
  const publish = createPublisher(bench, { keepUploads: true });
  const embedding = createEmbeddingActivities({ adapters: bench, publish });
  for (const name of names) {
    text = `The ${name} is described here. Every ${name} of the valley is blue.`;
    const task = await bench.admit(name, text);
    await inActivity(() => bench.documents.parseDocument(refOf(task))).result;
    await inActivity(() => embedding.embedDocument(refOf(task), { publish: true })).result;
  }
  const config = parseConfig({ AUTH_TOKEN: 'or-evaluation-0123456789abcdef' });
  const asked: string[] = [];
  const real = plainSearch(bench);
  const search: typeof real = {
    search: async (request) => {
      asked.push(request.text);
      return real.search(request);
    },
    searchInFull: (request) => real.searchInFull(request),
  };
  const chat = createChatService({
    ...bench,
    search: real,
    overrides: { languageModel: () => bench.models.languageModel() },
    promptSource: bundledPromptSource,
    web: null,
    settings: config.chat,
    now: () => new Date(),
  });
  const partition = (await bench.partitions.get('library'))!;
  const set = { partition_key: partition.partition_key, name: 'main', note: null, created_by: '1' };
  const version = await bench.questionSets.add(set, questionsAbout(names), 9);
  const start: EvaluationStart = {
    run_id: randomUUID(),
    partition: 'library',
    partition_key: partition.partition_key,
    set: 'main',
    version: version.version,
    version_id: version.version_id,
    label: null,
    settings: { chat: false, top_k: 50, preset: null, overrides: {} },
    config: null,
    questions_total: files,
    started_by: '1',
    ...more,
  };
  return {
    adapters: bench,
    search,
    chat,
    start,
    /** What search was asked, in order. */
    asked,
    questions: questionsAbout(names).map(({ question }) => question),
    run: () => bench.evaluationRuns.get(start.run_id),
    results: () => bench.evaluationRuns.results(start.run_id, 0, 100),
  };
}
