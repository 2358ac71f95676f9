import { describe, expect, it } from '@jest/globals';
import { matcherOf, rankRelevant } from '../../../../activities/retrieval/evaluation/match-relevant.js';

function chunk(chunkId: string, fileId: string, text = 'Everything flows, and nothing stays as it was.') {
  return { chunkId, fileId, text };
}

function file(file_id: string, grade = 1) {
  return { file_id, passage: null, grade };
}

function passage(text: string, file_id: string | null = null, grade = 1) {
  return { file_id, passage: text, grade };
}

describe('matcherOf', () => {
  it('knows a file by its id', () => {
    expect(matcherOf([file('a'), file('b')])(chunk('1', 'b'))).toEqual([1]);
    expect(matcherOf([file('a')])(chunk('1', 'b'))).toEqual([]);
  });

  it.each([
    ['EVERYTHING FLOWS', true],
    ['Everything flows – and nothing stays.', true],
    ['Tout coule, and nothing stays as it was', true],
    ['flows everything', false],
    ['Everything flows in rivers of whatever country one may think of', false],
    ['was', true],
    ['were', false],
    ['…', true],
  ])('a passage %j is in the chunk: %s', (text, there) => {
    expect(matcherOf([passage(text)])(chunk('1', 'a'))).toEqual(there ? [0] : []);
  });

  it.each([
    ['保修期为两年', '本产品说明如下。屏幕的保修期为两年，电池为六个月。', true],
    ['保修期为两年', '屏幕的重量为十二公斤。', false],
    ['バッテリーの保証期間は六か月です', 'さて、バッテリーの保証期間は六か月です。', true],
    ['バッテリーの保証期間は六か月です', '画面は大きいです。', false],
    ['รับประกันหกเดือน', 'แบตเตอรี่รับประกันหกเดือน จอภาพสองปี', true],
    ['รับประกันหกเดือน', 'จอภาพมีขนาดใหญ่', false],
  ])('finds a passage in a script without white space: %s in %s: %s', (text, held, there) => {
    expect(matcherOf([passage(text)])(chunk('1', 'a', held))).toEqual(there ? [0] : []);
  });

  it('looks for a passage of a file in this file alone', () => {
    const match = matcherOf([passage('everything flows', 'a')]);
    expect(match(chunk('1', 'a'))).toEqual([0]);
    expect(match(chunk('1', 'b'))).toEqual([]);
  });
});

describe('rankRelevant', () => {
  it('ranks files where whole files are judged, each where its best chunk stands', () => {
    const found = [chunk('1', 'a'), chunk('2', 'b'), chunk('3', 'a'), chunk('4', 'c')];
    expect(rankRelevant([file('c', 2), file('z')], found)).toEqual({
      ranked: ['a', 'b', 'c'],
      grades: new Map([
        ['c', 2],
        ['z', 1],
      ]),
    });
  });

  it('ranks chunks where passages are, each passage once', () => {
    const relevant = [passage('everything flows'), passage('a third thing', 'b', 3)];
    const found = [
      chunk('1', 'b', 'of no use'),
      chunk('2', 'b'),
      chunk('3', 'a'),
      chunk('4', 'b', 'Here is a third thing.'),
    ];
    const { ranked, grades } = rankRelevant(relevant, found);
    expect(ranked).toEqual(['chunk/1', 'item/0', 'chunk/3', 'item/1']);
    expect([...grades]).toEqual([
      ['item/0', 1],
      ['item/1', 3],
    ]);
  });

  it('ranks the passages of one chunk by their grades, in whatever order they were judged', () => {
    const [low, high] = [passage('everything flows'), passage('a third thing', 'b', 3)];
    const found = [{ ...chunk('1', 'b', 'Here is a third thing, and everything flows.') }];
    const anywhere = { ...low, file_id: null };
    expect(rankRelevant([anywhere, high], found).ranked).toEqual(['item/1', 'item/0']);
    expect(rankRelevant([high, anywhere], found).ranked).toEqual(['item/0', 'item/1']);
  });

  it('takes a long chunk and passage without delay', () => {
    for (const long of ['la '.repeat(20_000), '保修期为两年'.repeat(10_000)])
      expect(matcherOf([passage(long.slice(0, 8_000))])(chunk('1', 'a', long))).toEqual([0]);
  });
});
