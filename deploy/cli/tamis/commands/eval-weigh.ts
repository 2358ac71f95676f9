import { TRIED_WEIGHTS, fitWeight } from '../../../../activities/retrieval/evaluation/fit-weight.js';
import { figureOf } from '../../../../activities/retrieval/evaluation/measures.js';
import { CliFailure, EXIT } from '../cli-failure.js';
import type { Context } from '../context.js';
import { interval, pathOf, runPath, signed, watchRun } from '../evaluation.js';
import type { EvaluationRun, Figure } from '../evaluation.js';
import { formatTable } from '../format.js';

interface ResultPage {
  total: number;
  results: { index: number; measures: Record<string, number> }[];
}

/** A run with the vectors weighing so much; null: as the preset says. */
interface Tried {
  weight: number | null;
  run: EvaluationRun;
  /** nDCG@10 by the place of each question that names relevant items. */
  values: Map<number, number>;
}

export interface WeighOptions {
  setVersion?: number;
  preset?: string;
}

/** `tamis eval weigh`: a run with each weight of the vectors, and which of them is best. */
export async function weigh(
  context: Context,
  options: WeighOptions,
  partition: string,
  set: string,
): Promise<void> {
  const tried: Tried[] = [];
  for (const weight of [null, ...TRIED_WEIGHTS]) {
    // All of them over the version that was the newest when the first began.
    const version = tried[0]?.run.version ?? options.setVersion;
    tried.push(await tryWeight(context, { ...options, setVersion: version }, partition, set, weight));
  }
  const [asPreset, ...weighed] = tried as [Tried, ...Tried[]];
  const questions = [...asPreset.values.keys()];
  if (questions.length === 0)
    throw new CliFailure(EXIT.failed, `No question of ${set} names what is relevant to it.`);
  const listOf = ({ values }: Tried): number[] => questions.map((place) => values.get(place) ?? 0);
  const { weight, heldOut } = fitWeight(new Map(weighed.map((one) => [one.weight!, listOf(one)])));
  const before = listOf(asPreset);
  const difference = figureOf(heldOut.map((value, at) => value - before[at]!))!;
  const found = {
    partition,
    set,
    version: asPreset.run.version,
    preset: figureOf(before)!,
    weights: weighed.map((one) => ({ weight: one.weight!, ndcg_10: figureOf(listOf(one))! })),
    best: weight,
    held_out: { ndcg_10: figureOf(heldOut)!, difference },
  };
  context.show(found, describe(found));
}

async function tryWeight(
  context: Context,
  { setVersion: version, preset }: { setVersion?: number | undefined; preset?: string },
  partition: string,
  set: string,
  weight: number | null,
): Promise<Tried> {
  const gateway = context.gateway();
  const { run_id: runId } = await gateway.ask<EvaluationRun>('POST', pathOf(partition, '/runs'), {
    set,
    label: weight === null ? 'vectors as the preset says' : `vectors weighing ${weight}`,
    ...(version !== undefined && { version }),
    ...(preset !== undefined && { preset }),
    ...(weight !== null && { overrides: { vector_weight: weight } }),
  });
  // In JSON the end alone is shown.
  const shown = context.json ? { ...context, json: false, write: () => undefined } : context;
  const run = await watchRun(shown, partition, runId);
  if (run.status !== 'completed')
    throw new CliFailure(
      EXIT.failed,
      `The run ${runId} ended ${run.status}${run.error === null ? '.' : `: ${run.error}`}`,
    );
  const values = new Map<number, number>();
  for (let offset = 0, total = 1; offset < total;) {
    const page = await gateway.ask<ResultPage>(
      'GET',
      `${runPath(partition, runId)}/results?offset=${offset}`,
    );
    if (page.results.length === 0) break;
    for (const { index, measures } of page.results)
      if (measures['ndcg_10'] !== undefined) values.set(index, measures['ndcg_10']);
    total = page.total;
    offset += page.results.length;
  }
  return { weight, run, values };
}

function describe(found: {
  preset: Figure;
  weights: { weight: number; ndcg_10: Figure }[];
  best: number;
  held_out: { ndcg_10: Figure; difference: Figure };
}): string[] {
  const { preset, weights, best, held_out: heldOut } = found;
  const row = (name: string, figure: Figure): string[] => [name, figure.mean.toFixed(3), interval(figure)];
  const names = new Map([
    [0, '0, words alone'],
    [1, '1, vectors alone'],
  ]);
  const { difference } = heldOut;
  return [
    ...formatTable(
      ['vectors weigh', 'nDCG@10', '95 %'],
      [
        row('as the preset says', preset),
        ...weights.map(({ weight, ndcg_10: figure }) => row(names.get(weight) ?? String(weight), figure)),
      ],
    ),
    '',
    `Best over all ${preset.count} questions: "vector_weight": ${best}`,
    `Chosen by one half of them and measured on the other: ${heldOut.ndcg_10.mean.toFixed(3)}, ` +
      `${signed(difference.mean)} (${signed(difference.low)} to ${signed(difference.high)}) against the preset`,
    difference.low > 0
      ? `It is worth a retrieval preset with "vector_weight": ${best}.`
      : 'That is not beyond chance: leave the preset as it is.',
  ];
}
