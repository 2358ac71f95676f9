import { describe, expect, test } from '@jest/globals';
import { missingFlags } from '../../../deploy/local/services/ollama-program.js';

describe('whether the build runs here', () => {
  const cpu = (flags: string): string => `processor\t: 0\nflags\t\t: fpu sse2 ${flags} xsave\nbugs\t\t:\n`;

  test('a processor of the level lacks nothing', () => {
    expect(missingFlags('linux', 'x64', cpu('fma f16c avx avx2 bmi2'))).toEqual([]);
  });

  test('what an older one lacks is named', () => {
    expect(missingFlags('linux', 'x64', cpu('avx'))).toEqual(['AVX2', 'FMA', 'BMI2', 'F16C']);
    // a word that merely begins so is another feature
    expect(missingFlags('linux', 'x64', cpu('fma f16c avx2x bmi2'))).toEqual(['AVX2']);
    expect(missingFlags('linux', 'x64', '')).toHaveLength(4);
  });

  test('another kind of machine is named', () => {
    expect(missingFlags('darwin', 'arm64', '')).toEqual([expect.stringContaining('darwin on arm64')]);
    expect(missingFlags('linux', 'arm64', '')).toEqual([expect.stringContaining('linux on arm64')]);
  });
});
