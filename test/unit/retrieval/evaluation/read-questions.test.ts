import { describe, expect, it } from '@jest/globals';
import {
  QUESTION_LIMITS,
  readQuestions,
} from '../../../../activities/retrieval/evaluation/read-questions.js';
import type { QuestionFormat } from '../../../../activities/retrieval/evaluation/read-questions.js';

function questions(format: QuestionFormat, content: string) {
  const read = readQuestions(format, content);
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  return read.questions;
}

function problems(format: QuestionFormat, content: string): [line: number, message: string][] {
  const read = readQuestions(format, content);
  return 'problems' in read ? read.problems.map(({ line, message }) => [line, message]) : [];
}

const FILE = { passage: null, grade: 1 };

describe('JSON lines', () => {
  it('names files, passages with grades, an answer, or none', () => {
    const lines = [
      { id: 'one', question: ' What flows? ', relevant: ['f.1', { file_id: 'f.2', grade: 3 }] },
      { question: 'Who says so?', relevant: [{ passage: 'Heraclitus says' }], expected_answer: 'Heraclitus' },
      { question: 'Why?', not_answerable: true },
    ];
    const content = `\uFEFF${lines.map((line) => JSON.stringify(line)).join('\r\n')}\n\n`;
    expect(questions('jsonl', content)).toEqual([
      {
        id: 'one',
        question: 'What flows?',
        relevant: [
          { ...FILE, file_id: 'f.1' },
          { ...FILE, file_id: 'f.2', grade: 3 },
        ],
        expected_answer: null,
        not_answerable: false,
      },
      {
        id: expect.stringMatching(/^[0-9a-f]{16}$/),
        question: 'Who says so?',
        relevant: [{ ...FILE, file_id: null, passage: 'Heraclitus says' }],
        expected_answer: 'Heraclitus',
        not_answerable: false,
      },
      expect.objectContaining({ question: 'Why?', relevant: [], not_answerable: true }),
    ]);
  });

  it('gives a question without an id the same one each time', () => {
    const line = '{"question":"Why?","not_answerable":true}';
    const [first] = questions('jsonl', line);
    const [, again] = questions('jsonl', `{"question":"Who?","not_answerable":true}\n${line}`);
    expect(again!.id).toBe(first!.id);
  });

  it('says of each line what is wrong with it', () => {
    const content = [
      '{"question":"Fine?","relevant":["f"]}',
      '{"question":',
      '',
      '{"question":"","relevant":["f"]}',
      '{"question":"Nothing?"}',
      '{"question":"Both?","relevant":["f"],"not_answerable":true}',
      '{"question":"Other?","relevent":["f"]}',
      '{"question":"Grade?","relevant":[{"file_id":"f","grade":0}]}',
      '{"question":"Empty?","relevant":[{"grade":1}]}',
      '{"question":"Signs?","relevant":[{"passage":"→ ☑"}]}',
      '{"question":"Twice?","relevant":["f","f"]}',
      '{"question":"Fine?","relevant":["g"]}',
      '"a text"',
    ].join('\n');
    expect(problems('jsonl', content)).toEqual([
      [2, 'The line is not valid JSON.'],
      [4, expect.stringContaining('question')],
      [5, expect.stringContaining('not_answerable')],
      [6, expect.stringContaining('neither')],
      [7, expect.stringContaining('relevent')],
      [8, expect.stringContaining('relevant.0')],
      [9, expect.stringContaining("'file_id' or a 'passage'")],
      [10, expect.stringContaining("'passage' needs")],
      [11, expect.stringContaining('twice')],
      [12, expect.stringContaining('line 1')],
      [13, expect.any(String)],
    ]);
  });

  it.each(['', '\n\n', '\uFEFF'])('refuses %j, which has no question', (content) => {
    expect(problems('jsonl', content)).toEqual([[1, 'There is no question in it.']]);
  });

  it('bounds how much is in a set, and how much is said of a bad one', () => {
    const line = (index: number) => JSON.stringify({ question: `Q${index}`, not_answerable: true });
    const full = Array.from({ length: QUESTION_LIMITS.questions + 1 }, (_, index) => line(index));
    expect(problems('jsonl', full.join('\n'))).toEqual([[1, expect.stringContaining('at most')]]);
    expect(questions('jsonl', full.slice(1).join('\n'))).toHaveLength(QUESTION_LIMITS.questions);
    expect(problems('jsonl', '{\n'.repeat(100_000))).toHaveLength(50);
    const long = JSON.stringify({ question: 'x'.repeat(QUESTION_LIMITS.question + 1), not_answerable: true });
    expect(problems('jsonl', long)).toHaveLength(1);
  });
});

describe('CSV', () => {
  it('takes a row for each relevant item of a question', () => {
    const content = [
      'id,question,file_id,grade,expected_answer,not_answerable',
      'a,"What flows, here?",f.1,2,,',
      'a,,f.2,,"Water, mostly",',
      ',Who?,f.3,,,',
      ',Why?,,,,TRUE',
    ].join('\r\n');
    expect(questions('csv', content)).toEqual([
      {
        id: 'a',
        question: 'What flows, here?',
        relevant: [
          { ...FILE, file_id: 'f.1', grade: 2 },
          { ...FILE, file_id: 'f.2' },
        ],
        expected_answer: 'Water, mostly',
        not_answerable: false,
      },
      expect.objectContaining({ question: 'Who?', relevant: [{ ...FILE, file_id: 'f.3' }] }),
      expect.objectContaining({ question: 'Why?', relevant: [], not_answerable: true }),
    ]);
  });

  it('reads what spreadsheets write where the comma is a decimal sign, and passages of several lines', () => {
    const content = '\uFEFFquestion;passage\r\nQui ?;"Héraclite\nle dit; on le sait"\r\n';
    expect(questions('csv', content)).toEqual([
      expect.objectContaining({
        question: 'Qui ?',
        relevant: [{ ...FILE, file_id: null, passage: 'Héraclite\nle dit; on le sait' }],
      }),
    ]);
  });

  it('says of each row what is wrong with it, by the line where it begins', () => {
    const content = [
      'id,question,passage,grade,not_answerable',
      'a,One?,"two',
      'lines",1,',
      'b,Two?,p,none,',
      'a,Another?,p,1,',
      'c,Three?,,1,perhaps',
      ',,p,1,',
    ].join('\n');
    expect(problems('csv', content)).toEqual([
      [4, expect.stringContaining('grade')],
      [5, expect.stringContaining('line 2')],
      [6, expect.stringContaining('true or false')],
      [6, expect.any(String)],
      [7, expect.stringContaining('question')],
    ]);
  });

  it.each([
    ['question,fileid\nWhy?,f', /Unknown column 'fileid'/],
    ['id,file_id\na,f', /'question' is missing/],
    ['question,file_id\nWhy?,"f', /cannot be read/],
    ['question,file_id\nWhy?,f,more', /cannot be read/],
    ['question,file_id', /no question/],
  ])('refuses %j', (content, message) => {
    expect(problems('csv', content)).toEqual([[expect.any(Number), expect.stringMatching(message)]]);
  });
});
