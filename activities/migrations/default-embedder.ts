import { AppError } from '../../schemas/app-error.js';
import { ERROR_TABLE } from '../../schemas/error-table.js';
import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type { MigrationPosition } from '../../schemas/migrations/migrations.js';
import { DEFAULT_ALIAS } from '../../schemas/models/endpoint-names.js';
import type { Adapters } from '../ports/adapters.js';
import type { Migration, MigrationSlice, PendingMigration } from '../ports/migrations.js';
import { giveVerdict, toVerdict } from './verdict.js';
import { EVERYTHING } from '../../schemas/documents/users.js';

type Stores = Pick<Adapters, 'partitions' | 'endpoints' | 'files'>;

const PAGE = 100;

interface Position extends MigrationPosition {
  tied: number;
  total: number;
}

/**
 * Ties partitions that use "the default embedder", as releases up to 2.2 stored it, to the endpoint that is marked as
 * the default: the vectors of a partition come from one embedder, also when another becomes the default. Those without
 * files are tied as well, as new partitions are from the start. Searches and uploads of a partition that is not tied
 * are refused.
 */
export function createDefaultEmbedderMigration({ partitions, endpoints, files }: Stores): Migration {
  /** An endpoint that is called so is what they use. */
  const findUntied = async (): Promise<PartitionRecord[]> => {
    if ((await endpoints.get('embedder', DEFAULT_ALIAS)) !== null) return [];
    const all = await partitions.list(EVERYTHING);
    return all.filter(({ embedder }) => embedder === DEFAULT_ALIAS);
  };

  /** @throws AppError MIGRATION_NOT_POSSIBLE when there is not exactly one that counts */
  const requireDefault = async (): Promise<string> => {
    const name = (await endpoints.defaults()).embedder;
    const marked = name === undefined ? null : await endpoints.get('embedder', name);
    // The built-in one is the default where nothing else is configured; no earlier release made vectors with it.
    if (marked === null || marked.provider === 'builtin')
      throw new AppError('MIGRATION_NOT_POSSIBLE', ERROR_TABLE.DEFAULT_EMBEDDER_MIGRATION_REQUIRED.message);
    return marked.name;
  };

  /** None is left, and no file holds vectors under that name. */
  const verify = async (): Promise<MigrationSlice> => {
    const untied = await findUntied();
    const isNamed = (await endpoints.get('embedder', DEFAULT_ALIAS)) !== null;
    const left = isNamed ? 0 : [...(await files.countByEmbedder(DEFAULT_ALIAS)).values()].reduce(sum, 0);
    const position = { phase: 'done', tied: 0, total: untied.length };
    const problems = [
      ...(untied.length === 0 ? [] : [`${untied.length} partitions are not tied to an embedder.`]),
      ...(left === 0 ? [] : [`${left} files hold vectors of an embedder that is not named.`]),
    ];
    return toVerdict({ ...toSlice(position), figures: { partitions: untied.length, files: left } }, problems);
  };

  return {
    name: 'default-embedder',
    title: 'Ties partitions that use the default embedder to the endpoint that is marked as the default',
    unit: 'partitions',
    modes: ['dry_run', 'run', 'verify'],

    async pending(): Promise<PendingMigration | null> {
      const untied = await findUntied();
      if (untied.length === 0) return null;
      const obstacle = await requireDefault().then(
        () => null,
        (error: unknown) => AppError.from(error).message,
      );
      return {
        what: 'Partitions of an earlier release use the default embedder, whichever that is; each is tied to one.',
        amount: untied.length,
        dark: ['searches', 'uploads', 'chats'],
        obstacle,
      };
    },

    async slice(mode, from, control) {
      if (mode === 'verify') return giveVerdict(from) ?? verify();
      let position = from as Position | null;
      for (;;) {
        const untied = await findUntied();
        position ??= { phase: 'tying', tied: 0, total: untied.length };
        const embedder = untied.length === 0 ? null : await requireDefault();
        if (mode === 'dry_run') return toSlice({ ...position, phase: 'done' });
        if (embedder === null) return toSlice({ ...position, phase: 'done' });
        await control.pace();
        // First the files: a partition that is tied is not looked at again.
        await files.renameEmbedder(DEFAULT_ALIAS, embedder);
        for (const { partition } of untied.slice(0, PAGE))
          await partitions.update(partition, { embedder }, { embedder: DEFAULT_ALIAS });
        const tied = position.tied + Math.min(PAGE, untied.length);
        position = { ...position, tied, total: Math.max(position.total, tied) };
        control.reached(toSlice(position));
        if (control.isOver()) return toSlice(position);
      }
    },

    async abandon() {},
  };
}

function sum(one: number, other: number): number {
  return one + other;
}

function toSlice(position: Position): MigrationSlice {
  return {
    position,
    ended: position.phase === 'done',
    cancellable: true,
    done: position.tied,
    total: position.total,
    figures: { partitions: position.total },
  };
}
