import base from './jest.config.mjs';

/** `npm run test:scale`: the same promises at full size. One suite at a time, since each wants the whole machine. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/scale/**/*.scale.ts'],
  testTimeout: 30 * 60_000,
  maxWorkers: 1,
};
