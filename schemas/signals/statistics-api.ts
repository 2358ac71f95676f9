import { z } from 'zod';
import { DURATION_CATEGORIES } from './statistics.js';

/** Bodies of the statistics endpoints (proxy seed; their gaps are filled by the proxy spec, section 2). */

const scenarioCounts = z.array(z.object({ scenario: z.string(), count: z.int() }));
const instant = z.string().nullable().meta({ description: 'ISO 8601 in UTC; null when there are no alerts' });

export const StatsBody = z
  .object({
    total: z.int(),
    filtered: z.int(),
    forwarded: z.int(),
    topScenarios: scenarioCounts,
    allScenarios: scenarioCounts,
    topCountries: z.array(z.object({ country: z.string(), count: z.int() })),
    timeBounds: z.object({ min: instant, max: instant }),
  })
  .meta({ id: 'StatsBody' });
export type StatsBody = z.output<typeof StatsBody>;

const buckets = {
  byDayOfWeek: z
    .array(z.object({ day: z.int(), dayName: z.string(), count: z.int() }))
    .meta({ description: 'In UTC; 0 is Sunday; days without alerts are left out' }),
  byHourOfDay: z
    .array(z.object({ hour: z.int(), count: z.int() }))
    .meta({ description: 'In UTC; hours without alerts are left out' }),
};
const byCountry = z.array(z.object({ countryCode: z.string(), countryName: z.string(), count: z.int() }));

export const DistributionBody = z
  .object({
    ...buckets,
    byCountry,
    byScenario: scenarioCounts,
    dailyTrend: z.array(z.object({ date: z.string(), count: z.int() })),
    totalAlerts: z.int(),
    dateRange: z.object({ from: instant, to: instant }),
  })
  .meta({ id: 'DistributionBody' });
export type DistributionBody = z.output<typeof DistributionBody>;

export const DecisionStatsBody = z
  .object({
    totalDecisions: z.int(),
    ...buckets,
    byDurationCategory: z
      .array(z.object({ category: z.string(), count: z.int() }))
      .meta({ description: `Of ${DURATION_CATEGORIES.join(', ')} those that occur` }),
    topScenarios: scenarioCounts,
    byCountry,
  })
  .meta({ id: 'DecisionStatsBody' });
export type DecisionStatsBody = z.output<typeof DecisionStatsBody>;

const PERIODS = ['7d', '30d', 'all'] as const;
export type Period = (typeof PERIODS)[number];

export const PeriodQuery = z.object({
  period: z
    .enum(PERIODS, 'must be equal to constant')
    .meta({ description: 'How many days back from now' })
    .default('30d'),
});
