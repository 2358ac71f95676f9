import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import { count, share } from '../arguments.js';
import { CliFailure, EXIT } from '../cli-failure.js';
import type { Context, Run } from '../context.js';
import { formatFacts } from '../format.js';
import { watch } from '../watch.js';

/** What is read of a swap here; the gateway answers more. */
interface Swap {
  status: 'running' | 'completed' | 'failed' | 'cancelled';
  target_embedder: string;
  files_total: number | null;
  files_done: number;
}

const ALL = '/admin/embedder-swaps';
const LOOK_MS = 1_000;

function pathOf(partition: string): string {
  return `/partition/${encodeURIComponent(partition)}/embedder-swap`;
}

/** `tamis swap`: another embedder for what is indexed already. */
export function addSwap(program: Command, run: Run): void {
  const swap = program
    .command('swap')
    .description(
      'another embedder for what is indexed: vectors are made anew while searches use the old ones',
    );
  swap
    .command('start')
    .description('of one partition, or with --from of all partitions of an embedder')
    .argument('[partition]', 'its name')
    .requiredOption('--to <embedder>', 'the embedder to come')
    .option('--from <embedder>', 'every partition of this embedder')
    .option('--concurrency <n>', 'partitions at a time', count(1))
    .option('--min-overlap <share>', 'hold the switch when less of the old first ten results stays', share)
    .option('--min-known-item <share>', 'hold the switch when known texts are found worse than this', share)
    .option(
      '--question-set <name>',
      'a question set of the partition, asked of both embedders before the switch',
    )
    .option(
      '--min-ndcg <share>',
      'hold the switch when the nDCG@10 over the question set is below this',
      share,
    )
    .option('--watch', 'show progress until it ends; Ctrl-C leaves it running')
    .action(run(start));
  swap
    .command('status')
    .description('of one partition, or of the swaps of all partitions of an embedder')
    .argument('[partition]', 'its name')
    .action(
      run(async (context, _options, partition?: string) => {
        const body = await context.gateway().ask('GET', partition === undefined ? ALL : pathOf(partition));
        context.show(body, body === null ? ['There never was one.'] : formatFacts(body));
      }),
    );
  swap
    .command('watch')
    .description('show progress until it ends; Ctrl-C leaves it running')
    .argument('<partition>', 'its name')
    .action(run((context, _options, partition: string) => follow(context, partition)));
  swap
    .command('cancel')
    .description('give it up; searches go on with the embedder that there was')
    .argument('<partition>', 'its name')
    .action(
      run(async (context, _options, partition: string) => {
        const body = await context.gateway().ask('DELETE', pathOf(partition));
        context.show(body, [`The swap of ${partition} is given up.`]);
      }),
    );
}

interface StartOptions {
  to: string;
  from?: string;
  concurrency?: number;
  minOverlap?: number;
  minKnownItem?: number;
  questionSet?: string;
  minNdcg?: number;
  watch?: boolean;
}

async function start(context: Context, options: StartOptions, partition?: string): Promise<void> {
  const { to, from, concurrency } = options;
  if ((partition === undefined) === (from === undefined))
    throw new CliFailure(
      EXIT.wrongUse,
      'Name a partition, or with --from the embedder of all that are meant.',
    );
  const gates = {
    ...(options.minOverlap === undefined ? {} : { min_overlap: options.minOverlap }),
    ...(options.minKnownItem === undefined ? {} : { min_known_item: options.minKnownItem }),
    ...(options.questionSet === undefined ? {} : { question_set: options.questionSet }),
    ...(options.minNdcg === undefined ? {} : { min_ndcg: options.minNdcg }),
  };
  if (partition === undefined) {
    if (options.watch === true)
      throw new CliFailure(EXIT.wrongUse, 'One partition can be watched; of all there is tamis swap status.');
    const body = await context.gateway().ask('POST', ALL, {
      source: from,
      target: to,
      ...gates,
      ...(concurrency === undefined ? {} : { concurrency }),
    });
    context.show(body, [`Started for the partitions of ${from}. See: tamis swap status`]);
    return;
  }
  if (concurrency !== undefined)
    throw new CliFailure(EXIT.wrongUse, '--concurrency goes with --from, for several partitions.');
  const body = await context.gateway().ask('POST', pathOf(partition), { embedder: to, ...gates });
  if (options.watch === true) return follow(context, partition);
  context.show(body, [`Started. Watch it: tamis swap watch ${partition}`]);
}

async function follow(context: Context, partition: string): Promise<void> {
  const gateway = context.gateway();
  const end = await watch<Swap>(context, {
    howToComeBack: `The swap goes on. Watch it again: tamis swap watch ${partition}`,
    async *states() {
      for (;;) {
        const swap = await gateway.ask<Swap | null>('GET', pathOf(partition));
        if (swap === null) throw new CliFailure(EXIT.failed, `There never was a swap of ${partition}.`);
        yield swap;
        await setTimeout(LOOK_MS, undefined, { signal: context.signal });
      }
    },
    isFinal: ({ status }) => status !== 'running',
    progressOf: ({ files_done: done, files_total: total, target_embedder: to }) => ({
      phase: `to ${to}`,
      done,
      total,
      unit: 'files',
    }),
  });
  if (!context.json) for (const line of formatFacts(end)) context.write(`${line}\n`);
  if (end.status !== 'completed')
    throw new CliFailure(EXIT.failed, `The swap of ${partition} ended ${end.status}.`);
}
