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
    documents: linesIn('documents.jsonl').map((line) => JSON.parse(line) as Source['documents'][number]),
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
