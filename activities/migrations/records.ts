import { AppError } from '../../schemas/app-error.js';
import type { MigrationMode, MigrationPosition } from '../../schemas/migrations/migrations.js';
import type {
  Migration,
  MigrationSlice,
  PendingMigration,
  RecordCollections,
  RecordStepStore,
} from '../ports/migrations.js';
import type { RecordStep } from './records/record-step.js';
import { giveVerdict, toVerdict } from './verdict.js';

const PAGE = 500;

/** A record that is changed while its page is worked on is read again, so often in a row it does not happen. */
const ATTEMPTS = 20;
const LACKING = 'lacking_';

interface Position extends MigrationPosition {
  /** Names of the steps that are not done, the present one first. */
  steps: string[];
  /** The last record that was looked at in the present step. */
  after: string | number | null;
  looked: number;
  total: number;
  figures: Record<string, number>;
}

/** Brings records of our own collections to the shape of this release, step by step, while everything goes on. */
export function createRecordsMigration(
  { records, steps: done }: { records: RecordCollections; steps: RecordStepStore },
  all: readonly RecordStep[],
): Migration {
  const findPending = async (): Promise<RecordStep[]> => {
    const applied = new Set(await done.applied());
    return all.filter(({ name }) => !applied.has(name));
  };

  const estimate = async (steps: readonly RecordStep[]): Promise<number> => {
    const counts = await Promise.all(steps.map(({ collection }) => records.estimate(collection)));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  const start = async (mode: MigrationMode): Promise<Position> => {
    const steps = mode === 'verify' ? all : await findPending();
    const names = steps.map(({ name }) => name);
    const figures = Object.fromEntries(names.map((name) => [figureOf(name, mode), 0]));
    return {
      phase: names[0] ?? 'done',
      steps: names,
      after: null,
      looked: 0,
      total: await estimate(steps),
      figures,
    };
  };

  const find = (name: string): RecordStep => {
    const found = all.find((step) => step.name === name);
    // During an upgrade a worker of the release before may be asked; it is tried again until another one answers.
    if (found === undefined)
      throw new AppError('SERVICE_UNAVAILABLE', `This worker is of a release without the step ${name}.`);
    return found;
  };

  /** Answers how many records lacked the new shape, and the last one that was looked at; null: there are no more. */
  const doPage = async (step: RecordStep, mode: MigrationMode, after: Position['after']) => {
    let changed = 0;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const page = await records.page(step.collection, { after, size: PAGE, fields: step.fields });
      const changes = page.flatMap((record) => {
        const change = step.change(record);
        return change === null ? [] : [{ record, ...change }];
      });
      const last = page.length < PAGE ? null : (page.at(-1)?.id ?? null);
      if (mode !== 'run') return { looked: page.length, changed: changes.length, last };
      const now = changes.length === 0 ? 0 : await records.change(step.collection, step.fields, changes);
      changed += now;
      if (now === changes.length) return { looked: page.length, changed, last };
    }
    throw new AppError('STORAGE_ERROR', `Records of ${step.collection} are changed all the time.`);
  };

  const nextPage = async (position: Position, mode: MigrationMode): Promise<Position> => {
    const [name, ...rest] = position.steps;
    if (name === undefined) return { ...position, phase: 'done' };
    const { looked, changed, last } = await doPage(find(name), mode, position.after);
    const figure = figureOf(name, mode);
    const next = {
      ...position,
      after: last,
      looked: position.looked + looked,
      figures: { ...position.figures, [figure]: (position.figures[figure] ?? 0) + changed },
    };
    if (last !== null) return next;
    if (mode === 'run') await done.markApplied(name);
    return { ...next, phase: rest[0] ?? 'done', steps: rest };
  };

  return {
    name: 'records',
    title: 'Brings records to the shape of this release',
    unit: 'records',
    modes: ['dry_run', 'run', 'verify'],

    async pending(): Promise<PendingMigration | null> {
      const steps = await findPending();
      if (steps.length === 0) return null;
      return {
        what: `${steps.map(({ title }) => title).join('. ')}.`,
        amount: await estimate(steps),
        dark: [],
        obstacle: null,
      };
    },

    async slice(mode, from, control) {
      const verdict = mode === 'verify' ? giveVerdict(from) : null;
      if (verdict !== null) return verdict;
      let position = (from as Position | null) ?? (await start(mode));
      while (position.phase !== 'done') {
        await control.pace();
        position = await nextPage(position, mode);
        control.reached(toSlice(position));
        if (control.isOver()) break;
      }
      const slice = toSlice(position);
      return mode === 'verify' && slice.ended ? toVerdict(slice, problemsOf(slice.figures)) : slice;
    },

    async abandon() {},
  };
}

function figureOf(step: string, mode: MigrationMode): string {
  return `${mode === 'verify' ? LACKING : 'changed_by_'}${step.replaceAll('-', '_')}`;
}

function problemsOf(figures: Readonly<Record<string, number>>): string[] {
  return Object.entries(figures).flatMap(([figure, count]) =>
    count === 0 ? [] : [`${count} records lack the shape of ${figure.slice(LACKING.length)}.`],
  );
}

function toSlice(position: Position): MigrationSlice {
  return {
    position,
    ended: position.phase === 'done',
    cancellable: true,
    // Records come and go meanwhile.
    done: position.looked,
    total: Math.max(position.total, position.looked),
    figures: position.figures,
  };
}
