import base from './jest.config.mjs';

/** The alert rules in promtool and in a Prometheus of the test's own. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/alerts/**/*.alerts.ts'],
  testTimeout: 3 * 60_000,
  maxWorkers: 1,
};
