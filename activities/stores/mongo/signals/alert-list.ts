import type { AggregationCursor, Collection, Document, Filter } from 'mongodb';
import type { Alert } from '../../../../schemas/signals/signals.js';
import type { AlertQuery } from '../../../ports/signals.js';
import { toAlert } from './alert-document.js';
import type { AlertDocument } from './alert-document.js';
import { newestWindow } from './alert-window.js';
import type { Span } from './alert-window.js';
import type { createScenarioNames } from './scenario-names.js';

/** A part of a scenario's name that more names contain than this is looked for in the alerts themselves. */
const MAX_SCENARIOS = 500;
/** Places in a list that a server sends at a time. */
const BATCH = 5_000;

/**
 * Said where a query asks for neither, so that it has bounds for every field that an index has in front of the time.
 */
const EITHER = { $in: [true, false] };

/** What tells an alert's place in a list, and what reading it costs. */
type ListedAlert = Pick<AlertDocument, '_id' | 'received_at' | 'bytes'>;
/** The fields that must have one value, or one of some. */
type Equalities = Filter<AlertDocument>;
type Page = Pick<AlertQuery, 'offset' | 'limit' | 'since' | 'until'>;

/** The list of the management API: the newest first, then by id. */
export function createAlertList(
  alerts: Collection<AlertDocument>,
  scenarios: ReturnType<typeof createScenarioNames>,
) {
  /** Null when no stored alert can match. */
  async function scenarioFilter(part: string | undefined): Promise<Equalities | null> {
    if (part === undefined) return {};
    const pattern = literally(part.toLowerCase());
    const names = await scenarios.matching(pattern, MAX_SCENARIOS);
    if (names === null) return { scenario_folded: { $regex: pattern } };
    return names.length === 0 ? null : { scenario_folded: { $in: names } };
  }

  async function find(
    equalities: Equalities,
    { offset, limit, since, until }: Page,
  ): Promise<AggregationCursor<ListedAlert>> {
    const filterOf = (span: Span): Filter<AlertDocument> => ({
      ...(Object.keys(equalities).length > 0 && { filtered: EITHER, forwarded: EITHER, ...equalities }),
      ...(Object.keys(span).length > 0 && { received_at: span }),
    });
    const span = await newestWindow(alerts, filterOf, { needed: offset + limit, since, until });
    // Projected before it is sorted: DocumentDB sorts whole documents otherwise, with their raw signals.
    return alerts.aggregate<ListedAlert>(
      [
        { $match: filterOf(span) },
        { $project: { received_at: 1, bytes: 1 } },
        { $sort: { received_at: -1, _id: -1 } },
        ...(offset > 0 ? [{ $skip: offset }] : []),
        { $limit: limit },
      ],
      { batchSize: BATCH },
    );
  }

  /**
   * An address is looked for in two fields, each by its own index: asked for both at once, a server may read through
   * everything else that the query says (DocumentDB does).
   */
  async function findAddress(ip: string, equalities: Equalities, page: Page): Promise<ListedAlert[]> {
    const { offset, limit } = page;
    const found = await Promise.all(
      (['fields.sourceIp', 'fields.sourceValue'] as const).map((field) =>
        find({ ...equalities, [field]: ip }, { ...page, offset: 0, limit: offset + limit }),
      ),
    );
    const wanted: ListedAlert[] = [];
    let place = 0;
    // What lies before the page is let go as it comes: an address may have sent everything that is stored.
    for await (const alert of newestOfBoth(found[0]!, found[1]!)) {
      if (place >= offset) wanted.push(alert);
      place += 1;
      if (wanted.length === limit) break;
    }
    return wanted;
  }

  /**
   * The alerts of a page in its order, with raw signals of so many bytes; the first one's always, or it never showed.
   */
  async function read(page: readonly ListedAlert[], rawBytes: number): Promise<Alert[]> {
    let bytes = 0;
    const withRaw = page.filter((alert, index) => {
      bytes += alert.bytes;
      return index === 0 || bytes <= rawBytes;
    });
    const documents = await Promise.all([
      readPart(withRaw, {}),
      readPart(page.slice(withRaw.length), { raw: 0 }),
    ]);
    const byId = new Map(documents.flat().map((document) => [document._id, document]));
    return page.flatMap(({ _id }) => {
      const document = byId.get(_id);
      // Removed in this moment by the retention.
      return document === undefined ? [] : [toAlert(document, document.raw ?? null)];
    });
  }

  async function readPart(
    page: readonly ListedAlert[],
    projection: Document,
  ): Promise<(Omit<AlertDocument, 'raw'> & { raw?: string })[]> {
    if (page.length === 0) return [];
    const ids = page.map(({ _id }) => _id);
    return await alerts.find({ _id: { $in: ids } }, { projection, batchSize: 1_000 }).toArray();
  }

  return async (query: AlertQuery): Promise<Alert[]> => {
    // A gate and not a filter: with nothing newer in the whole table the answer is empty, else it is complete.
    if (query.newerThan !== undefined) {
      const newer = await alerts.findOne(
        { received_at: { $gt: query.newerThan } },
        { projection: { _id: 1 } },
      );
      if (newer === null) return [];
    }
    const scenario = await scenarioFilter(query.scenario);
    if (scenario === null) return [];
    const { filtered, forwardedToCapi, country, machineId, ip } = query;
    // The filters of the seed (proxy spec, section 2).
    const equalities: Equalities = {
      ...(filtered !== undefined && { filtered }),
      ...(forwardedToCapi !== undefined && { forwarded: forwardedToCapi }),
      ...scenario,
      ...(country !== undefined && { 'fields.geoCountryCode': country }),
      ...(machineId !== undefined && { 'fields.machineId': machineId }),
    };
    const page =
      ip === undefined
        ? await (await find(equalities, query)).toArray()
        : await findAddress(ip, equalities, query);
    return await read(page, query.rawBytes ?? Infinity);
  };
}

/** A pattern that finds this text and nothing else. */
function literally(text: string): string {
  return text.replace(/[\0-\x7f]/g, (character) => {
    // A regular expression cannot hold a NUL, and a backslash before a letter or digit would mean something.
    if (character === '\0') return '\\x00';
    return /[A-Za-z0-9]/.test(character) ? character : `\\${character}`;
  });
}

/** Two lists, the newest first, as one; what is in both comes once. */
async function* newestOfBoth(
  one: AggregationCursor<ListedAlert>,
  other: AggregationCursor<ListedAlert>,
): AsyncGenerator<ListedAlert> {
  try {
    let [a, b] = await Promise.all([one.next(), other.next()]);
    while (a !== null || b !== null) {
      const order = a === null ? 1 : b === null ? -1 : byNewest(a, b);
      yield order <= 0 ? a! : b!;
      if (order <= 0) a = await one.next();
      if (order >= 0) b = await other.next();
    }
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
}

function byNewest(a: ListedAlert, b: ListedAlert): number {
  return b.received_at.getTime() - a.received_at.getTime() || b._id - a._id;
}
