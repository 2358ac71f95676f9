import base from './jest.config.mjs';

/** Engines with accounts and certificates of their own, started by the tests. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/secured/**/*.secured.ts'],
  testTimeout: 5 * 60_000,
  maxWorkers: 1,
};
