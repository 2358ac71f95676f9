import { describe, expect, test } from '@jest/globals';
import { availableParallelism } from 'node:os';
import { modelEnvironment } from '../../../deploy/local/app-environment.js';

const half = String(Math.max(1, Math.floor(availableParallelism() / 2)));

describe('what gateway and worker are told of an Ollama', () => {
  test('nothing where there is none', () => {
    expect(modelEnvironment({}, {})).toEqual({});
  });

  test.each(['http://127.0.0.1:11435', 'localhost:11434', 'http://[::1]:11434'])(
    'one on this machine, %s, gets half of its cores',
    (ollama) => {
      expect(modelEnvironment({ ollama }, {})).toEqual({ OLLAMA_HOST: ollama, EMBEDDER_NUM_THREAD: half });
    },
  );

  test('one elsewhere decides by itself', () => {
    const ollama = 'http://models.example:11434';
    expect(modelEnvironment({ ollama }, {})).toEqual({ OLLAMA_HOST: ollama });
  });

  test("the operator's number wins", () => {
    const ollama = 'http://127.0.0.1:11435';
    expect(modelEnvironment({ ollama }, { EMBEDDER_NUM_THREAD: '7' })).toEqual({
      OLLAMA_HOST: ollama,
      EMBEDDER_NUM_THREAD: '7',
    });
  });
});
