import { describe, expect, test } from '@jest/globals';
import { BUNDLED_PROMPTS } from '../../../../activities/models/seeds/bundled-prompts.js';
import type { PromptType } from '../../../../schemas/models/prompts.js';
import { PROMPT_SLOTS, PROMPT_TYPES, fillPrompt, promptSlots } from '../../../../schemas/models/prompts.js';

describe('fillPrompt', () => {
  test('fills slots once, keeps unknown ones and single braces, and halves doubled braces', () => {
    const text = '{a} {b} {c} {{"x": {a}}} { } {"y": 1}';
    expect(fillPrompt(text, { a: '{b}', b: '{{' })).toBe('{b} {{ {c} {"x": {b}} { } {"y": 1}');
    expect(fillPrompt('{constructor} {__proto__}', {})).toBe('{constructor} {__proto__}');
  });

  test('a value is taken as it is, dollar signs included', () => {
    expect(fillPrompt('<{a}>', { a: "$& $1 $' $$" })).toBe("<$& $1 $' $$>");
  });
});

describe('promptSlots', () => {
  test('names each slot once, and shows what is no plain one', () => {
    expect(promptSlots('{a} {b} {a} {{c}} {d.e} {f!r} {g:>10} {"h": 1} { i }')).toEqual([
      'a',
      'b',
      'd.e',
      'f!r',
      'g:>10',
    ]);
  });

  test('is done quickly with hostile text', () => {
    expect(promptSlots('{a'.repeat(100_000))).toEqual([]);
  });
});

describe('the kinds of prompts', () => {
  test('say each which slots they may have', () => {
    expect(Object.keys(PROMPT_SLOTS)).toEqual([...PROMPT_TYPES]);
  });
});

describe('the bundled prompts', () => {
  test.each(Object.keys(BUNDLED_PROMPTS) as PromptType[])('%s has known slots only', (type) => {
    const slots = promptSlots(BUNDLED_PROMPTS[type]);
    expect(slots.filter((slot) => !PROMPT_SLOTS[type].includes(slot))).toEqual([]);
  });
});
