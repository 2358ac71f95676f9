import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoClient, StreamedAnswer, DemoStage } from './demo-client.js';

const PARTITION = 'tide-mill';
const FILES = ['visitor-guide.md', 'keepers-handbook.pdf', 'harbour-notices.html', 'flour-catalogue.docx'];

function idOf(filename: string): string {
  return filename.replace(/\.[^.]+$/, '');
}

type Stage = Pick<DemoStage, 'samples' | 'print' | 'signal' | 'quoting'>;

/** Documents become searchable, questions become answers with their sources. */
export async function demoDocuments(client: DemoClient, stage: Stage): Promise<void> {
  const { print, samples, quoting } = stage;
  /** What the answer rests on: it says so itself when it quotes, else the search that fed the model does. */
  const ground = async (question: string, answer: StreamedAnswer): Promise<string> => {
    expectThat(answer.text.trim() !== '', 'there is an answer');
    if (quoting) return answer.text;
    return (await client.search(PARTITION, question, 10)).map(({ content }) => content).join('\n');
  };
  print(`\n1. Index ${FILES.length} files into the partition "${PARTITION}"`);
  await client.deletePreviousRun(PARTITION, FILES.map(idOf));
  await Promise.all(
    FILES.map(async (name) => {
      const url = await client.upload('POST', PARTITION, idOf(name), join(samples, name));
      await follow(client, stage, name, url);
    }),
  );

  const query = 'How far must the sea fall before a grinding session may begin?';
  print(`\n2. Search: ${query}`);
  const found = await client.search(PARTITION, query, 3);
  expectThat(found.length > 0, 'the search found something');
  for (const { metadata, content } of found) {
    const score = (metadata.combined_score ?? 0).toFixed(2);
    print(`   ${metadata.filename}, page ${metadata.page}, score ${score}`);
    print(`      ${shortened(content)}`);
  }

  print('\n3. Ask, and read the answer as it is streamed');
  const alarm = 'What is to be done when there is a fire in the flour loft?';
  const fire = await ask(client, stage, alarm);
  expectThat((await ground(alarm, fire)).includes('tower bell'), 'the answer rests on the handbook');
  expectThat(fire.sources.length > 0, 'the answer names its source');

  print('\n4. Ask what the files do not answer');
  const unknown = await ask(client, stage, 'Which city is the capital of Mongolia?');
  if (quoting) expectThat(unknown.sources.length === 0, 'no source is claimed for it');

  print('\n5. Replace a file: the answer changes, and the file is never away');
  const price = 'How much does an adult ticket cost?';
  const before = await ground(price, await ask(client, stage, price));
  expectThat(before.includes('7 euros'), 'the first version says 7 euros');
  const guide = join(samples, 'replacement', 'visitor-guide.md');
  const url = await client.upload('PUT', PARTITION, 'visitor-guide', guide);
  await follow(client, stage, 'visitor-guide.md (2027)', url);
  const after = await ground(price, await ask(client, stage, price));
  expectThat(after.includes('9 euros'), 'the second version says 9 euros');
  expectThat(!after.includes('7 euros'), 'nothing of the first version is left');
}

/** Prints a line whenever a task enters another stage, and its time when it has ended. */
async function follow(client: DemoClient, stage: Stage, name: string, url: string): Promise<void> {
  const from = Date.now();
  const seconds = (): string => `${((Date.now() - from) / 1000).toFixed(1)} s`.padStart(7);
  let shown = '';
  for (;;) {
    const task = await client.task(url);
    const line = `${task.task_state} ${task.stage}`;
    if (line !== shown) {
      const percent = `${Math.round(task.progress * 100)} %`.padStart(5);
      stage.print(
        `  ${seconds()}  ${name.padEnd(26)} ${task.task_state.padEnd(12)} ${percent}  ${task.stage}`,
      );
    }
    shown = line;
    if (task.task_state === 'COMPLETED') return;
    if (task.task_state === 'FAILED' || task.task_state === 'CANCELLED')
      throw new Error(`${name} ended ${task.task_state}: ${task.error?.message ?? 'no reason given'}`);
    await sleep(100, undefined, { signal: stage.signal });
  }
}

async function ask(client: DemoClient, stage: Stage, question: string): Promise<StreamedAnswer> {
  stage.print(`   Question: ${question}`);
  let deltas = 0;
  const from = Date.now();
  let first = 0;
  const answer = await client.ask(PARTITION, question, () => {
    first ||= Date.now() - from;
    deltas += 1;
  });
  const last = Date.now() - from;
  stage.print(`   Answer:   ${answer.text.trim().replaceAll('\n', '\n             ')}`);
  stage.print(`             (${deltas} deltas, the first after ${first} ms, the end after ${last} ms)`);
  for (const source of answer.sources)
    stage.print(`   Source:   ${source.chunk.filename}, page ${source.chunk.page}  ${source.chunk_url}`);
  if (answer.sources.length === 0) stage.print('   Source:   none');
  return answer;
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= 160 ? line : `${line.slice(0, 157)}…`;
}

function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new Error(`not so: ${what}`);
}
