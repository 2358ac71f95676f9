import { describe, expect, test } from '@jest/globals';
import { formatFileSize } from '../../../../activities/text/format-file-size.js';
import {
  presentChunkMetadata,
  presentFileMetadata,
} from '../../../../activities/retrieval/search/present-metadata.js';
import { makeFile, makeResult, makeVersion } from '../fixtures.js';

const client = {
  project: 'dam',
  amount: 9007199254740993n,
  created_at: '2024-05-06T00:00:00.000Z',
  source: 'mine',
  _id: 'mine',
  partition: 'mine',
  page: 77,
};

describe('presentChunkMetadata', () => {
  test('gives the keys that clients read, the server winning over the client', () => {
    const result = makeResult(
      { chunk_id: 'abc', page: 4, section_id: 2, prev_section_id: 1, next_section_id: null },
      { metadata: client, relationship_id: 'thread-1' },
    );
    expect(presentChunkMetadata({ ...result, score: 1 / 3, vectorScore: 0.123456789 })).toEqual({
      project: 'dam',
      amount: 9007199254740993n,
      created_at: '2024-05-06T00:00:00.000Z',
      _id: 'abc',
      file_id: 'file-1',
      partition: 'public',
      filename: 'report.pdf',
      original_filename: 'Report (final).pdf',
      source: 'report.pdf',
      file_size: '2.40 MB',
      content_sha256: 'ab'.repeat(32),
      indexed_at: '2026-03-01T12:00:00.000Z',
      page: 4,
      page_sep: '[PAGE_SEP]',
      chunk_type: 'text',
      section_id: 2,
      prev_section_id: 1,
      next_section_id: null,
      relationship_id: 'thread-1',
      vector_score: 0.123457,
      combined_score: 0.333333,
    });
  });

  test('has page 1 where the format has no pages, and no scores outside a search', () => {
    const { chunk, file, version } = makeResult({ page: null });
    const metadata = presentChunkMetadata({ chunk, file, version });
    expect(metadata.page).toBe(1);
    expect(Object.keys(metadata)).not.toContain('vector_score');
    expect(Object.keys(metadata)).not.toContain('combined_score');
    expect(Object.keys(metadata)).not.toContain('parent_id');
  });

  test('takes no score from a client: a hit by words alone has none of the vectors, and none of a reranker', () => {
    const scores = { vector_score: 9, rerank_score: 9, combined_score: 9 };
    const result = makeResult({}, { metadata: scores });
    const shown = presentChunkMetadata({ ...result, score: 0.5, vectorScore: null });
    expect(shown.combined_score).toBe(0.5);
    expect(Object.keys(shown)).not.toContain('vector_score');
    expect(Object.keys(shown)).not.toContain('rerank_score');
    // Where nothing was searched for they are words like others.
    const { chunk, file, version } = result;
    expect(presentChunkMetadata({ chunk, file, version })).toMatchObject(scores);
  });

  test('goes by the record where record and chunk differ', () => {
    const result = makeResult({ partition: 'old', file_id: 'old', filename: 'old.pdf' });
    expect(presentChunkMetadata(result)).toMatchObject({
      partition: 'public',
      file_id: 'file-1',
      filename: 'report.pdf',
    });
  });
});

describe('presentFileMetadata', () => {
  test('gives the live version, or the names alone', () => {
    const live = makeVersion({ metadata: client, parent_id: 'mail-1' });
    expect(presentFileMetadata(makeFile({ live }))).toMatchObject({
      project: 'dam',
      source: 'report.pdf',
      partition: 'public',
      page: 1,
      parent_id: 'mail-1',
    });
    expect(presentFileMetadata(makeFile({ live: null }))).toEqual({ file_id: 'file-1', partition: 'public' });
  });
});

test.each([
  [0, '0.00 B'],
  [1023, '1023.00 B'],
  [1024, '1.00 KB'],
  [2_516_582, '2.40 MB'],
  [3 * 1024 ** 3, '3.00 GB'],
])('formatFileSize(%d) is %j', (bytes, text) => {
  expect(formatFileSize(bytes)).toBe(text);
});
