import base from './jest.config.mjs';

/** Debian's crowdsec as the client, within a network of its own: it pushes every 30 s and cannot be hurried. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/crowdsec/**/*.crowdsec.ts'],
  testTimeout: 5 * 60_000,
  maxWorkers: 1,
};
