import { describe, expect, test } from '@jest/globals';
import { createCircuitBreaker } from '../../../activities/models/circuit-breaker.js';

function open() {
  let now = 0;
  const breaker = createCircuitBreaker({ name: 'e', now: () => now });
  for (let round = 0; round < 5; round += 1) breaker.enter().failed();
  return { breaker, wait: (ms: number) => (now += ms) };
}

describe('createCircuitBreaker', () => {
  test('opens after five failures in a row, and says how long', () => {
    const { breaker, wait } = open();
    wait(4000);
    expect(() => breaker.enter()).toThrow(
      expect.objectContaining({ code: 'CIRCUIT_BREAKER_OPEN', retryAfterMs: 6000 }),
    );
  });

  test('tells each change of its state once', () => {
    let now = 0;
    const states: string[] = [];
    const breaker = createCircuitBreaker({
      name: 'e',
      now: () => now,
      onState: (state) => states.push(state),
    });
    breaker.enter().succeeded();
    expect(states.splice(0)).toEqual(['closed']);
    for (let round = 0; round < 5; round += 1) breaker.enter().failed();
    now += 10_000;
    breaker.enter().ended();
    breaker.enter().failed();
    now += 10_000;
    breaker.enter().succeeded();
    expect(states).toEqual(['open', 'half-open', 'open', 'half-open', 'open', 'half-open', 'closed']);
  });

  test('a success in between starts the count anew', () => {
    const breaker = createCircuitBreaker({ name: 'e', now: () => 0 });
    for (let round = 0; round < 20; round += 1)
      if (round % 5 === 4) breaker.enter().succeeded();
      else breaker.enter().failed();
    expect(() => breaker.enter()).not.toThrow();
  });

  test('then lets one call try: its success closes, its failure opens anew', () => {
    const { breaker, wait } = open();
    wait(10_000);
    const trial = breaker.enter();
    expect(() => breaker.enter()).toThrow('left alone');
    trial.failed();
    expect(() => breaker.enter()).toThrow('left alone');
    wait(10_000);
    breaker.enter().succeeded();
    breaker.enter();
    breaker.enter();
  });

  test('a trial that was left counts for nothing, and the next call tries', () => {
    const { breaker, wait } = open();
    wait(10_000);
    breaker.enter().ended();
    breaker.enter().succeeded();
    expect(() => breaker.enter()).not.toThrow();
  });
});
