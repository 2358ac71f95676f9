import { readFileSync } from 'node:fs';
import type { Grades } from '../../activities/retrieval/evaluation/measures.js';

export interface Collection {
  name: string;
  documents: { id: string; filename: string; content: string }[];
  /** Grades above 0 count alike, as 1. */
  queries: { id: string; text: string; grades: Grades }[];
}

const FOLDER = new URL('./data/', import.meta.url);

function linesOf(folder: string, file: string): string[] {
  return readFileSync(new URL(`${folder}/${file}`, FOLDER), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

/**
 * A test collection of `test/bench/data`: one Markdown file per document, its title as the heading (and not a second
 * time where the text begins with it), and the queries that have a relevant one. File names say nothing.
 */
function load(name: string, folder: string): Collection {
  const relevant = new Map<string, Map<string, number>>();
  for (const line of linesOf(folder, 'qrels.tsv')) {
    const [query = '', document = '', grade = '0'] = line.split('\t');
    if (Number(grade) > 0)
      relevant.set(query, (relevant.get(query) ?? new Map<string, number>()).set(document, 1));
  }
  return {
    name,
    documents: linesOf(folder, 'documents.jsonl').flatMap((line) => {
      const { id, title, text } = JSON.parse(line) as { id: string; title: string; text: string };
      const words = (value: string): string => value.replace(/\s+/g, ' ').trim();
      const heading = words(title);
      const whole = words(text);
      const body = whole.startsWith(heading) ? whole.slice(heading.length).trim() : text.trim();
      // Two of Cranfield are empty, which a partition takes once.
      if (heading === '' && body === '') return [];
      return [{ id, filename: `${id}.md`, content: heading === '' ? body : `# ${heading}\n\n${body}\n` }];
    }),
    queries: linesOf(folder, 'queries.tsv').flatMap((line) => {
      const [id = '', text = ''] = line.split('\t');
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
