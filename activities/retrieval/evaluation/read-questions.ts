import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import { sha256Hex } from '../../../schemas/sha256.js';
import type { EvaluationQuestion } from '../../../schemas/retrieval/evaluation.js';
import { isSearchable } from './match-relevant.js';

/** What a question set may hold at most. */
export const QUESTION_LIMITS = {
  questions: 5_000,
  /** Characters. */
  question: 8_000,
  passage: 8_000,
  answer: 8_000,
  id: 200,
  /** Of one question. */
  relevant: 200,
  grade: 100,
} as const;

/** A fault of an upload; lines count from 1. */
export interface LineProblem {
  line: number;
  message: string;
}

export type ReadQuestions = { questions: EvaluationQuestion[] } | { problems: LineProblem[] };

export type QuestionFormat = 'jsonl' | 'csv';

const MAX_PROBLEMS = 50;

const FileId = z.string().min(1).max(255);
const Item = z.strictObject({
  file_id: FileId.nullish(),
  passage: z.string().trim().min(1).max(QUESTION_LIMITS.passage).nullish(),
  grade: z.number().int().min(1).max(QUESTION_LIMITS.grade).default(1),
});
const Line = z.strictObject({
  id: z.string().trim().min(1).max(QUESTION_LIMITS.id).nullish(),
  question: z.string().trim().min(1).max(QUESTION_LIMITS.question),
  relevant: z
    .array(z.union([FileId.transform((file_id) => ({ file_id, passage: null, grade: 1 })), Item]))
    .max(QUESTION_LIMITS.relevant)
    .nullish(),
  expected_answer: z.string().trim().min(1).max(QUESTION_LIMITS.answer).nullish(),
  not_answerable: z.boolean().nullish(),
});
type Line = z.input<typeof Line>;

/** A line that could be read, before it is checked; several rows of a table may make one. */
interface RawLine {
  line: number;
  value: unknown;
}

/**
 * Reads a question set.
 *
 * JSON lines: `question`, and any of `id`, `relevant` (a list of file ids, or of objects with `file_id`, `passage`,
 * `grade`), `expected_answer`, `not_answerable`. CSV: a header with `question` and any of `id`, `file_id`, `passage`,
 * `grade`, `expected_answer`, `not_answerable`; rows of the same `id`, or else of the same question, name further
 * relevant items of it. A question without an id gets one from its text, so that it is the same in the next version.
 */
export function readQuestions(format: QuestionFormat, content: string): ReadQuestions {
  const text = content.replace(/^\uFEFF/, '');
  const { lines, problems } = format === 'csv' ? readTable(text) : readJsonLines(text);
  const questions: EvaluationQuestion[] = [];
  const lineOf = new Map<string, number>();
  for (const { line, value } of lines) {
    const parsed = Line.safeParse(value);
    if (!parsed.success) {
      problems.push({ line, message: messageOf(parsed.error) });
      continue;
    }
    const question = questionOf(parsed.data);
    const same = lineOf.get(question.id);
    const problem =
      same === undefined
        ? whyUnfit(question)
        : `The question has the id '${question.id}', as that of line ${same} has.`;
    if (problem === null) questions.push(question);
    else problems.push({ line, message: problem });
    if (!lineOf.has(question.id)) lineOf.set(question.id, line);
  }
  if (problems.length === 0 && questions.length === 0)
    problems.push({ line: 1, message: 'There is no question in it.' });
  if (questions.length > QUESTION_LIMITS.questions)
    problems.push({ line: 1, message: `A set has at most ${QUESTION_LIMITS.questions} questions.` });
  if (problems.length === 0) return { questions };
  return { problems: problems.sort((one, other) => one.line - other.line).slice(0, MAX_PROBLEMS) };
}

/** An id that stays the same as long as the text does. */
export function questionIdOf(question: string): string {
  return sha256Hex(question).slice(0, 16);
}

function questionOf({ id, question, relevant, expected_answer, not_answerable }: z.output<typeof Line>) {
  return {
    id: id ?? questionIdOf(question),
    question,
    relevant: (relevant ?? []).map(({ file_id, passage, grade }) => ({
      file_id: file_id ?? null,
      passage: passage ?? null,
      grade,
    })),
    expected_answer: expected_answer ?? null,
    not_answerable: not_answerable === true,
  };
}

/** Why a question cannot be judged; null where it can. */
export function whyUnfit(question: EvaluationQuestion): string | null {
  const { relevant, expected_answer: answer, not_answerable: unanswerable } = question;
  if (unanswerable && (relevant.length > 0 || answer !== null))
    return 'A question that is not answerable has neither relevant items nor an expected answer.';
  if (!unanswerable && relevant.length === 0 && answer === null)
    return "It needs 'relevant' items, an 'expected_answer', or 'not_answerable': true.";
  if (relevant.some(({ file_id, passage }) => file_id === null && passage === null))
    return "A relevant item needs a 'file_id' or a 'passage'.";
  if (relevant.some(({ passage }) => passage !== null && !isSearchable(passage)))
    return "A 'passage' needs a letter or a digit.";
  const keys = relevant.map(({ file_id, passage }) => JSON.stringify([file_id, passage]));
  if (new Set(keys).size < keys.length) return 'A relevant item is named twice.';
  return null;
}

function messageOf(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'The line is not valid.';
  const place = issue.path.map(String).join('.');
  return place === '' ? issue.message : `${place}: ${issue.message}`;
}

function readJsonLines(text: string): { lines: RawLine[]; problems: LineProblem[] } {
  const lines: RawLine[] = [];
  const problems: LineProblem[] = [];
  for (const [index, json] of text.split('\n').entries()) {
    if (json.trim() === '') continue;
    try {
      lines.push({ line: index + 1, value: JSON.parse(json) as unknown });
    } catch {
      problems.push({ line: index + 1, message: 'The line is not valid JSON.' });
    }
    if (tooMany(lines, problems)) break;
  }
  return { lines, problems };
}

function tooMany(lines: readonly RawLine[], problems: LineProblem[]): boolean {
  return lines.length > QUESTION_LIMITS.questions || problems.length >= MAX_PROBLEMS;
}

const COLUMNS = [
  'id',
  'question',
  'file_id',
  'passage',
  'grade',
  'expected_answer',
  'not_answerable',
] as const;
type Column = (typeof COLUMNS)[number];
type Row = Partial<Record<Column, string>>;

const YES = new Set(['true', '1', 'yes']);
const NO = new Set(['', 'false', '0', 'no']);

function readTable(text: string): { lines: RawLine[]; problems: LineProblem[] } {
  const header = text.slice(0, text.indexOf('\n') + 1 || undefined);
  const delimiter = [',', ';', '\t'].find((sign) => header.includes(sign)) ?? ',';
  const problems: LineProblem[] = [];
  let rows: { line: number; row: Row }[];
  try {
    const records = parse(text, { delimiter, skip_empty_lines: true, trim: true, info: true }) as unknown as {
      record: string[];
      info: { lines: number };
    }[];
    const [head, ...rest] = records;
    const names = head?.record ?? [];
    const unknown = names.filter((name) => !(COLUMNS as readonly string[]).includes(name));
    if (unknown.length > 0)
      problems.push({
        line: 1,
        message: `Unknown column '${unknown[0]}'; there are ${COLUMNS.join(', ')}.`,
      });
    if (!names.includes('question')) problems.push({ line: 1, message: "The column 'question' is missing." });
    rows = rest.map(({ record, info }, index) => ({
      // What is told is where the record ends; it begins behind the one before.
      line: (records[index]?.info.lines ?? info.lines - 1) + 1,
      row: Object.fromEntries(names.map((name, place) => [name, record[place]?.trim() ?? ''])),
    }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = (error as unknown as { lines?: number }).lines ?? 1;
    return { lines: [], problems: [{ line, message: `The table cannot be read: ${error.message}` }] };
  }
  if (problems.length > 0) return { lines: [], problems };
  return { lines: mergeRows(rows, problems), problems };
}

type MergedLine = RawLine & { value: Line & { relevant: object[] } };

/** Rows of one question follow each other or do not; the first says what they do not repeat. */
function mergeRows(rows: readonly { line: number; row: Row }[], problems: LineProblem[]): RawLine[] {
  const merged = new Map<string, MergedLine>();
  for (const { line, row } of rows) {
    const { id = '', question: text = '' } = row;
    const key = id === '' ? `text/${text}` : `id/${id}`;
    const present = merged.get(key);
    const faults = faultsOf(row, present);
    problems.push(...faults.map(({ message }) => ({ line, message })));
    if (faults.some(({ isFatal }) => isFatal)) continue;
    const question = present ?? { line, value: { ...named('id', id), question: text, relevant: [] } };
    merged.set(key, question);
    addRow(question, row);
  }
  return [...merged.values()];
}

function gradeOf({ grade = '' }: Row): number {
  return grade === '' ? 1 : Number(grade);
}

/** Which of two is the right one cannot be known. */
function hasOtherAnswer({ expected_answer: answer = '' }: Row, present: MergedLine | undefined): boolean {
  const expected = present?.value.expected_answer ?? '';
  return answer !== '' && expected !== '' && answer !== expected;
}

/** A fatal one leaves nothing of the row to be checked further. */
function faultsOf(row: Row, present: MergedLine | undefined): { message: string; isFatal: boolean }[] {
  const { question = '', not_answerable: flag = '' } = row;
  const said = flag.toLowerCase();
  const grade = gradeOf(row);
  const isGrade = Number.isInteger(grade) && grade >= 1 && grade <= QUESTION_LIMITS.grade;
  const isOther = present !== undefined && question !== '' && question !== present.value.question;
  return [
    ...(YES.has(said) || NO.has(said) ? [] : [{ message: 'not_answerable: true or false.', isFatal: false }]),
    ...(isGrade
      ? []
      : [{ message: `grade: a whole number from 1 to ${QUESTION_LIMITS.grade}.`, isFatal: true }]),
    ...(isGrade && isOther
      ? [
          {
            message: `The question of id '${row.id}' is another one in line ${present.line}.`,
            isFatal: true,
          },
        ]
      : []),
    ...(hasOtherAnswer(row, present)
      ? [{ message: 'expected_answer: a row above has another one for this question.', isFatal: true }]
      : []),
  ];
}

function addRow({ value }: MergedLine, row: Row): void {
  if (YES.has((row.not_answerable ?? '').toLowerCase())) value.not_answerable = true;
  Object.assign(value, named('expected_answer', row.expected_answer));
  const item = { ...named('file_id', row.file_id), ...named('passage', row.passage) };
  if (Object.keys(item).length > 0) value.relevant.push({ ...item, grade: gradeOf(row) });
}

function named<Name extends string>(name: Name, value: string | undefined): Partial<Record<Name, string>> {
  return value === undefined || value === '' ? {} : ({ [name]: value } as Record<Name, string>);
}
