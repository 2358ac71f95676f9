import TestSequencer from '@jest/test-sequencer';

/**
 * Without the timings of an earlier run Jest begins with the largest files. What takes long here are whole stacks and
 * campaigns, in files of any size: begun last, one of them would run while every other core is idle.
 */
const WEIGHTS = [
  /e2e\/(kill|bad-input)/,
  /e2e\//,
  /workflows\/(forward-signals|index-document)/,
  /unit\/documents\/parsing\//,
  /workflows\//,
  /contracts\//,
];

const weight = ({ path }) => {
  const index = WEIGHTS.findIndex((pattern) => pattern.test(path));
  return index === -1 ? WEIGHTS.length : index;
};

export default class LongestFirstSequencer extends TestSequencer {
  sort(tests) {
    return [...tests].sort((one, other) => weight(one) - weight(other) || (one.path < other.path ? -1 : 1));
  }
}
