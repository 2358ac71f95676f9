import { judgeRanking, mean } from '../../activities/retrieval/evaluation/measures.js';
import type { Collection } from '../bench/collection.js';
import { indexFiles } from '../bench/index-files.js';
import { documentClient } from './document-client.js';
import type { RunningStack } from './running-stack.js';
import { makePartition, uploadTexts } from './upload-texts.js';

/** What a partition holds while something is done to it, and what is asked of it. */
export interface Corpus {
  questions: readonly string[];
  fill(stack: RunningStack, partition: string): Promise<void>;
  /** The mean nDCG@10 of the search route; null where nothing says what is relevant. */
  ndcg(client: Pick<RunningStack, 'request'>, partition: string): Promise<number | null>;
}

export function generatedCorpus(size: { files: number; paragraphs: number }): Corpus {
  return {
    questions: [
      'the keeper of the tide mill',
      'lamp and harbour',
      'cog rope bell',
      'what does document 3 say',
    ],
    fill: (stack, partition) => uploadTexts(stack, partition, size),
    ndcg: () => Promise.resolve(null),
  };
}

export function judgedCorpus({ documents, queries }: Collection): Corpus {
  return {
    questions: queries.slice(0, 40).map(({ text }) => text),
    async fill(stack, partition) {
      await makePartition(stack, partition);
      await indexFiles(stack, partition, documents);
    },
    async ndcg(client, partition) {
      const values: number[] = [];
      for (const { text, grades } of queries) {
        const found = await documentClient(client).search(`/search/partition/${partition}`, {
          text,
          top_k: '30',
        });
        const ranked = [...new Set(found.map(({ metadata }) => String(metadata['file_id'])))];
        values.push(judgeRanking(ranked, grades).ndcg_10);
      }
      return mean(values);
    },
  };
}
