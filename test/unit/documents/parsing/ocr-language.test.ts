import { describe, expect, it } from '@jest/globals';
import { createLanguageChoice } from '../../../../activities/documents/parsing/ocr/language-choice.js';

const ALL = ['eng', 'fra', 'deu', 'spa'];
const TEXTS = {
  eng: 'The wheel of the mill was not turning when the miller came down to the river, and that was the reason why he could not grind what they had brought for him.',
  fra: 'Le moulin est au bord de la rivière, et la roue ne tournait pas quand le meunier est venu voir ce qui se passait avec les grains dans la cour.',
  deu: 'Die Mühle steht am Fluss, und das Rad war nicht in Bewegung, als der Müller mit dem Korn aus der Stadt zu ihr kam und sich nach dem Wasser umsah.',
  spa: 'El molino está junto al río, pero la rueda no se movía cuando el molinero fue hasta el agua para ver lo que había entre las piedras y por qué.',
};

describe('the languages of OCR', () => {
  it.each(Object.entries(TEXTS))('%s is chosen after two pages', (language, text) => {
    const choice = createLanguageChoice(ALL);
    expect([choice.see(text), choice.current()]).toEqual([null, ALL]);
    expect([choice.see(text), choice.current()]).toEqual([language, [language]]);
    expect(choice.see(TEXTS.eng)).toBeNull();
    choice.widen();
    expect([choice.see(text), choice.current()]).toEqual([null, ALL]);
  });

  it('are all of them for pages of two languages, few words, and where one alone is configured', () => {
    const mixed = createLanguageChoice(ALL);
    for (const text of [TEXTS.eng, TEXTS.deu, TEXTS.eng, TEXTS.deu]) mixed.see(text);
    expect(mixed.current()).toEqual(ALL);
    const short = createLanguageChoice(ALL);
    for (const text of ['The mill', 'the wheel']) short.see(text);
    expect(short.current()).toEqual(ALL);
    const only = createLanguageChoice(['deu']);
    expect([only.see(TEXTS.deu), only.see(TEXTS.deu), only.current()]).toEqual([null, null, ['deu']]);
  });
});
