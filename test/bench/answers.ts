/**
 * `npm run bench:answers`: whether the built-in answerer quotes where the text holds the answer, and refuses where it
 * does not, without any model: on pairs written for this, and on PIAF's questions with the paragraph that answers them,
 * with another one of the same article, and with ten of other articles.
 */
import { readFileSync } from 'node:fs';
import { createExtractiveModel } from '../../activities/models/builtin/extractive-model.js';
import { listSourceBlocks, writeSourceBlock } from '../../activities/models/builtin/source-blocks.js';
import { reportBench } from './bench-report.js';
import { piaf } from './collection.js';

interface Pair {
  language: 'en' | 'fr';
  half: 'fitted' | 'held-out';
  text: string;
  answerable: string[];
  unanswerable: string[];
}

interface Asked {
  set: string;
  half: 'fitted' | 'held-out';
  question: string;
  texts: readonly string[];
  answerable: boolean;
}

const FOREIGN = 10;
const model = createExtractiveModel({ endpointName: 'builtin', contextTokens: 32_768 });

async function refuses(question: string, texts: readonly string[]): Promise<boolean> {
  const blocks = texts.map((text, index) =>
    writeSourceBlock({ number: index + 1, heading: 'text.md', text }),
  );
  const { content } = await model.complete(
    [
      { role: 'system', content: listSourceBlocks(blocks) },
      { role: 'user', content: question },
    ],
    {},
  );
  return content.includes('[Sources: none]');
}

function ownPairs(): Asked[] {
  const lines = readFileSync(new URL('./data/answers/pairs.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.flatMap((line) => {
    const { language, half, text, answerable, unanswerable } = JSON.parse(line) as Pair;
    const ask = (question: string, isAnswerable: boolean): Asked => ({
      set: `own, ${language}: ${isAnswerable ? 'answer in the text' : 'answer not in the text'}`,
      half,
      question,
      texts: [text],
      answerable: isAnswerable,
    });
    return [...answerable.map((one) => ask(one, true)), ...unanswerable.map((one) => ask(one, false))];
  });
}

function piafPairs(): Asked[] {
  const { documents, queries } = piaf();
  const titleOf = (content: string): string => content.split('\n', 1)[0]!;
  return queries.flatMap(({ text: question, grades }, index) => {
    const half = index % 2 === 1 ? ('fitted' as const) : ('held-out' as const);
    const right = documents.find(({ id }) => grades.has(id))!.content;
    const related = documents.filter(
      ({ content }) => content !== right && titleOf(content) === titleOf(right),
    );
    const others = documents.filter(({ content }) => titleOf(content) !== titleOf(right));
    const foreign = Array.from(
      { length: FOREIGN },
      (_, step) => others[(index * 97 + step * 131) % others.length]!.content,
    );
    const sibling = related[index % related.length]?.content;
    const ask = (set: string, texts: readonly string[], answerable: boolean): Asked => ({
      set: `PIAF: ${set}`,
      half,
      question,
      texts,
      answerable,
    });
    return [
      ask('the right paragraph', [right], true),
      ...(sibling === undefined ? [] : [ask('another paragraph of the article', [sibling], false)]),
      ask('ten paragraphs of other articles', foreign, false),
    ];
  });
}

const counts = new Map<string, { asked: number; right: number }>();
const asked = [...ownPairs(), ...piafPairs()];
for (const { set, half, question, texts, answerable } of asked) {
  const key = `${set}\n${half}`;
  const count = counts.get(key) ?? { asked: 0, right: 0 };
  count.asked += 1;
  if ((await refuses(question, texts)) !== answerable) count.right += 1;
  counts.set(key, count);
}
const sets = [...new Set(asked.map(({ set }) => set))];
function share(key: string): string {
  const { asked: all, right } = counts.get(key)!;
  return `${right} of ${all} (${((right / all) * 100).toFixed(0)} %)`;
}

reportBench(
  'answers',
  'The built-in answerer: answers where the text holds one, refusals where it does not',
  sets.map((set) => ({ set, fitted: share(`${set}\nfitted`), 'held out': share(`${set}\nheld-out`) })),
  [
    'An answer counts as right when it is one; whether it quotes the right sentence is not judged.',
    'Another paragraph of the same article holds the answer now and then, which counts as wrong here.',
  ],
);
