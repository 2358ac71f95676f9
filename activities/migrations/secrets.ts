import { AppError } from '../../schemas/app-error.js';
import type { MigrationMode, MigrationPosition } from '../../schemas/migrations/migrations.js';
import { modelKeyOwner } from '../models/model-key.js';
import type { Migration, MigrationSlice, RecordCollections, StoredRecord } from '../ports/migrations.js';
import { giveVerdict, toVerdict } from './verdict.js';

const PAGE = 500;
/** A record that is changed while its page is worked on is read again; so often in a row it does not happen. */
const ATTEMPTS = 20;
/** Once everything was found sealed with the present key, it is not read again for so long. */
const CLEAR_FOR_MS = 60_000;

/** What seals and opens, with the present key and those before it. */
export interface Resealing {
  /** The same secret under the present key; null: it is already. @throws AppError CONFIG_ERROR when no key opens it */
  reseal(box: string, owner: string): string | null;
  /** Whether there is a key besides the present one. */
  hasFormerKeys: boolean;
}

/** Where the stores keep secrets, and whose they are. */
interface Place {
  collection: string;
  fields: readonly string[];
  find(record: StoredRecord): { box: string; owner: string } | null;
  change(record: StoredRecord, box: string): Record<string, unknown>;
}

const PLACES: readonly Place[] = [
  {
    collection: 'model_endpoints',
    fields: ['sealed_api_key', 'model_type', 'name', 'endpoint'],
    find({ fields }) {
      const box = fields['sealed_api_key'];
      return typeof box === 'string' ? { box, owner: modelKeyOwner(fields as never) } : null;
    },
    change: (_, box) => ({ sealed_api_key: box }),
  },
  {
    collection: 'callbacks',
    fields: ['sealed_token'],
    find({ id, fields }) {
      const box = fields['sealed_token'];
      return typeof box === 'string' ? { box, owner: String(id) } : null;
    },
    change: (_, box) => ({ sealed_token: box }),
  },
  {
    collection: 'import_sources',
    fields: ['sealed_token'],
    find({ id, fields }) {
      const box = fields['sealed_token'];
      return typeof box === 'string' ? { box, owner: String(id) } : null;
    },
    change: (_, box) => ({ sealed_token: box }),
  },
  withinField('watchers', 'token'),
  withinField('logins', 'login'),
];

function problemsOf({ resealed, unreadable }: Position['figures']): string[] {
  return [
    ...(resealed === 0 ? [] : [`${resealed} secrets are sealed with another key than the present one.`]),
    ...(unreadable === 0 ? [] : [`${unreadable} secrets cannot be opened with the keys there are.`]),
  ];
}

/** A place whose secret is the `box` of an object. */
function withinField(collection: string, field: string): Place {
  const read = (record: StoredRecord) => record.fields[field] as { box?: unknown } | null | undefined;
  return {
    collection,
    fields: [field],
    find(record) {
      const box = read(record)?.box;
      return typeof box === 'string' ? { box, owner: String(record.id) } : null;
    },
    change: (record, box) => ({ [field]: { ...read(record), box } }),
  };
}

interface Position extends MigrationPosition {
  /** Index of the place at work. */
  place: number;
  after: string | number | null;
  looked: number;
  total: number;
  figures: { resealed: number; unreadable: number };
}

/**
 * Seals with the present SECRETS_KEY what was sealed with SECRETS_KEY_PREVIOUS, so that the latter can be taken out. A
 * secret that no key opens is counted and left as it is.
 */
export function createSecretsMigration({
  records,
  keys,
  now = Date.now,
}: {
  records: RecordCollections;
  /** Null without SECRETS_KEY: nothing is sealed then. */
  keys: Resealing | null;
  now?: () => number;
}): Migration {
  let clearUntil = 0;

  const estimate = async (): Promise<number> => {
    const counts = await Promise.all(PLACES.map(({ collection }) => records.estimate(collection)));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  const look = (place: Place, page: readonly StoredRecord[], { reseal }: Resealing) => {
    const changes: { record: StoredRecord; set: Record<string, unknown> }[] = [];
    let unreadable = 0;
    for (const record of page) {
      const found = place.find(record);
      if (found === null) continue;
      try {
        const box = reseal(found.box, found.owner);
        if (box !== null) changes.push({ record, set: place.change(record, box) });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'CONFIG_ERROR') throw error;
        unreadable += 1;
      }
    }
    return { changes, unreadable };
  };

  const readPage = (place: Place, after: Position['after']): Promise<StoredRecord[]> =>
    records.page(place.collection, { after, size: PAGE, fields: place.fields });

  const nextPage = async (
    position: Position,
    mode: MigrationMode,
    sealing: Resealing | null,
  ): Promise<Position> => {
    const place = PLACES[position.place];
    if (place === undefined || sealing === null) return { ...position, phase: 'done' };
    let resealed = 0;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const page = await readPage(place, position.after);
      const { changes, unreadable } = look(place, page, sealing);
      const changed =
        mode !== 'run' || changes.length === 0
          ? changes.length
          : await records.change(place.collection, place.fields, changes);
      resealed += changed;
      if (changed < changes.length) continue;
      const isLast = page.length < PAGE;
      const next = isLast ? position.place + 1 : position.place;
      return {
        ...position,
        phase: PLACES[next]?.collection ?? 'done',
        place: next,
        after: isLast ? null : (page.at(-1)?.id ?? null),
        looked: position.looked + page.length,
        figures: {
          resealed: position.figures.resealed + resealed,
          unreadable: position.figures.unreadable + unreadable,
        },
      };
    }
    throw new AppError('STORAGE_ERROR', `Records of ${place.collection} are changed all the time.`);
  };

  /** Whether any secret is sealed with another key than the present one. */
  const isAnyFormer = async (sealing: Resealing): Promise<boolean> => {
    for (const place of PLACES) {
      let after: Position['after'] = null;
      for (;;) {
        const page = await readPage(place, after);
        if (look(place, page, sealing).changes.length > 0) return true;
        if (page.length < PAGE) break;
        after = page.at(-1)?.id ?? null;
      }
    }
    return false;
  };

  return {
    name: 'secrets',
    title: 'Seals stored secrets with the present SECRETS_KEY',
    unit: 'records',
    modes: ['dry_run', 'run', 'verify'],

    async pending() {
      if (keys === null || !keys.hasFormerKeys || now() < clearUntil) return null;
      if (!(await isAnyFormer(keys))) {
        clearUntil = now() + CLEAR_FOR_MS;
        return null;
      }
      return {
        what: 'Secrets are sealed with SECRETS_KEY_PREVIOUS, which has to stay until they are sealed anew.',
        amount: await estimate(),
        dark: [],
        obstacle: null,
      };
    },

    async slice(mode, from, control) {
      const verdict = mode === 'verify' ? giveVerdict(from) : null;
      if (verdict !== null) return verdict;
      let position = (from as Position | null) ?? {
        phase: PLACES[0]?.collection ?? 'done',
        place: 0,
        after: null,
        looked: 0,
        total: await estimate(),
        figures: { resealed: 0, unreadable: 0 },
      };
      while (position.phase !== 'done') {
        await control.pace();
        position = await nextPage(position, mode, keys);
        control.reached(toSlice(position));
        if (control.isOver()) break;
      }
      const slice = toSlice(position);
      return mode === 'verify' && slice.ended ? toVerdict(slice, problemsOf(position.figures)) : slice;
    },

    async abandon() {},
  };
}

function toSlice(position: Position): MigrationSlice {
  return {
    position,
    ended: position.phase === 'done',
    cancellable: true,
    done: position.looked,
    // Records come and go meanwhile.
    total: Math.max(position.total, position.looked),
    figures: { ...position.figures },
  };
}
