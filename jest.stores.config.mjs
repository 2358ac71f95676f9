import base from './jest.config.mjs';

/** `npm run test:stores`: what stands on the stores, against one server. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/contracts/**/*.test.ts', '<rootDir>/test/api/**/*.test.ts'],
};
