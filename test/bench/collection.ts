import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Grades } from '../../activities/retrieval/evaluation/measures.js';

export interface Collection {
  name: string;
  documents: { id: string; filename: string; content: string }[];
  /** Grades above 0 count alike, as 1. */
  queries: { id: string; text: string; grades: Grades }[];
}

const FOLDER = fileURLToPath(new URL('./data/', import.meta.url));

function linesOf(folder: string, file: string): string[] {
  return readFileSync(join(folder, file), 'utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '');
}

/** A collection of `test/bench/data`. */
function load(name: string, folder: string): Collection {
  const linesIn = (file: string): string[] => linesOf(join(FOLDER, folder), file);
  return collectionOf(name, {
    documents: sourcesOf(folder),
    queries: linesIn('queries.tsv').map((line) => {
      const [id = '', text = ''] = line.split('\t');
      return { id, text };
    }),
    grades: linesIn('qrels.tsv').map((line) => line.split('\t')),
  });
}

/**
 * A collection in BEIR's format (https://github.com/beir-cellar/beir): `corpus.jsonl`, `queries.jsonl` and
 * `qrels/test.tsv`, which begins with a line of titles.
 */
export function beirCollection(folder: string): Collection {
  return collectionOf(basename(resolve(folder)), {
    documents: linesOf(folder, 'corpus.jsonl').map((line) => {
      const { _id: id, title = '', text } = JSON.parse(line) as { _id: string; title?: string; text: string };
      return { id, title, text };
    }),
    queries: linesOf(folder, 'queries.jsonl').map((line) => {
      const { _id: id, text } = JSON.parse(line) as { _id: string; text: string };
      return { id, text };
    }),
    grades: linesOf(folder, join('qrels', 'test.tsv'))
      .slice(1)
      .map((line) => line.split('\t')),
  });
}

/** The collections that are here, and that of the folder in `BENCH_COLLECTION`. */
export function benchCollections(): Collection[] {
  const folder = process.env['BENCH_COLLECTION'] ?? '';
  return [
    cranfield(),
    piaf(),
    load('FAQ-en', 'faq-en'),
    load('FAQ-fr', 'faq-fr'),
    ...(folder === '' ? [] : [beirCollection(folder)]),
  ];
}

interface Source {
  documents: { id: string; title: string; text: string }[];
  queries: { id: string; text: string }[];
  /** Query, document, grade. */
  grades: string[][];
}

/**
 * A test collection: one Markdown file per document, its title as the heading (and not a second time where the text
 * begins with it), and the queries that have a relevant one. File names say nothing.
 */
function collectionOf(name: string, { documents, queries, grades: judged }: Source): Collection {
  const relevant = new Map<string, Map<string, number>>();
  for (const [query = '', document = '', grade = '0'] of judged)
    if (Number(grade) > 0)
      relevant.set(query, (relevant.get(query) ?? new Map<string, number>()).set(document, 1));
  return {
    name,
    documents: documents.flatMap(({ id, title, text }) => {
      const words = (value: string): string => value.replace(/\s+/g, ' ').trim();
      const heading = words(title);
      const whole = words(text);
      const body = whole.startsWith(heading) ? whole.slice(heading.length).trim() : text.trim();
      // Two of Cranfield are empty, which a partition takes once.
      if (heading === '' && body === '') return [];
      return [{ id, filename: `${id}.md`, content: heading === '' ? body : `# ${heading}\n\n${body}\n` }];
    }),
    queries: queries.flatMap(({ id, text }) => {
      const grades = relevant.get(id);
      return grades === undefined ? [] : [{ id, text, grades }];
    }),
  };
}

export function cranfield(): Collection {
  return load('Cranfield', 'cranfield');
}

export function piaf(): Collection {
  return load('PIAF', 'piaf-fr');
}

/** Questions over a collection from which these documents were taken away. */
export interface LongQuestions {
  without: string[];
  queries: Collection['queries'];
}

const LONG = { least: 300, most: 3_000 };

/**
 * Documents of 300 to 3,000 characters as questions: of each group of documents that belong together the first one
 * that is not a question yet, and relevant to it are the others of its groups. All the questions are taken away
 * from what is searched.
 */
function longQuestions(
  texts: ReadonlyMap<string, string>,
  groups: readonly (readonly string[])[],
): LongQuestions {
  const asked = new Set<string>();
  for (const group of groups) {
    const first = group.find((id) => {
      const { length } = texts.get(id) ?? '';
      return !asked.has(id) && length >= LONG.least && length <= LONG.most;
    });
    if (first !== undefined) asked.add(first);
  }
  const queries = [...asked].flatMap((id) => {
    const others = new Set(groups.filter((group) => group.includes(id)).flat());
    const relevant = [...others].filter((other) => !asked.has(other) && texts.get(other)?.trim() !== '');
    if (relevant.length === 0) return [];
    return [{ id, text: texts.get(id)!, grades: new Map(relevant.map((other) => [other, 1])) }];
  });
  return { without: [...asked], queries };
}

function sourcesOf(folder: string): Source['documents'] {
  return linesOf(join(FOLDER, folder), 'documents.jsonl').map(
    (line) => JSON.parse(line) as Source['documents'][number],
  );
}

/** An abstract of Cranfield asks for those that are relevant to the same question. */
export function cranfieldByAbstract(): LongQuestions {
  return longQuestions(
    new Map(sourcesOf('cranfield').map(({ id, text }) => [id, text])),
    cranfield().queries.map(({ grades }) => [...grades.keys()]),
  );
}

/** A paragraph of PIAF asks for the others of its article, which has three and more. */
export function piafByParagraph(): LongQuestions {
  const sources = sourcesOf('piaf-fr');
  const articles = new Map<string, string[]>();
  for (const { id, title } of sources) articles.set(title, [...(articles.get(title) ?? []), id]);
  return longQuestions(
    new Map(sources.map(({ id, text }) => [id, text])),
    [...articles.values()].filter(({ length }) => length >= 3),
  );
}
