import base from './jest.config.mjs';

/** `npm run test:clients`: clients of other languages; TAMIS_PYTHON and TAMIS_PYTHON_PACKAGES name them. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/clients/**/*.clients.ts'],
  maxWorkers: 1,
};
