import type { Db, Document } from 'mongodb';
import type { AlertGroup, DecisionGroup, HourAggregate } from '../../../schemas/statistics.js';
import { foldHour } from '../../statistics/fold-hour.js';

/**
 * Texts are grouped with a sign in front: they come from outside, and a server that evaluates a key twice (the
 * stand-in does) would take one that begins with a dollar for an expression.
 */
const text = (path: string) => ({ $concat: ['=', path] });
const plain = (given: string | null | undefined): string | null => given?.slice(1) ?? null;

const COUNTRY = {
  country: text('$fields.geoCountryCode'),
  countryName: text('$fields.geoCountryName'),
} as const;

/** Groups as the server answers them: a field that a record lacks is not there. */
type Grouped<Group> = { _id: Partial<Group> } & Pick<AlertGroup, 'count' | 'first' | 'last'>;

/** Counts the alerts received in a span of time, both ends given. Reads that span of the index and no more. */
export const aggregateSpan = async (db: Db, from: Date, before: Date): Promise<HourAggregate> => {
  const alerts = db.collection('alerts');
  const span: Document = { received_at: { $gte: from, $lt: before } };
  const counting = alerts
    .aggregate<Grouped<AlertGroup>>(
      [
        { $match: span },
        {
          $group: {
            _id: {
              scenario: text('$fields.scenario'),
              ...COUNTRY,
              filtered: '$filtered',
              forwarded: '$forwarded',
              audit: '$fields.localAudit',
            },
            count: { $sum: 1 },
            first: { $min: '$received_at' },
            last: { $max: '$received_at' },
          },
        },
      ],
      { allowDiskUse: true },
    )
    .toArray();
  const deciding = alerts
    .aggregate<Grouped<DecisionGroup>>(
      [
        { $match: { ...span, 'fields.hasDecisions': true } },
        { $unwind: '$decisions' },
        {
          $group: {
            _id: {
              scenario: text('$decisions.scenario'),
              category: text('$decisions.category'),
              ...COUNTRY,
              audit: '$fields.localAudit',
            },
            count: { $sum: '$decisions.count' },
          },
        },
      ],
      { allowDiskUse: true },
    )
    .toArray();
  const [groups, decided] = await Promise.all([counting, deciding]);
  return foldHour(
    from,
    groups.map(({ _id, count, first, last }) => ({
      scenario: plain(_id.scenario) ?? '',
      country: plain(_id.country),
      countryName: plain(_id.countryName),
      filtered: _id.filtered === true,
      forwarded: _id.forwarded === true,
      audit: _id.audit === true,
      ...{ count, first, last },
    })),
    decided.map(({ _id, count }) => ({
      scenario: plain(_id.scenario),
      category: plain(_id.category) as DecisionGroup['category'],
      country: plain(_id.country),
      countryName: plain(_id.countryName),
      audit: _id.audit === true,
      count,
    })),
  );
};
