import { runUpkeep } from '../run-upkeep.js';
import type { UpkeepInput } from '../run-upkeep.js';
import { sweepDocuments } from './sweep-documents.js';

export interface UpkeepDocumentsInput extends UpkeepInput {
  timeoutMs: number;
}

/** One for all workers: takes up what a crash left of uploads and files, every half minute unless set otherwise. */
export async function upkeepDocuments(input: UpkeepDocumentsInput): Promise<never> {
  return runUpkeep(input, { sweep: ({ prefix, timeoutMs }) => sweepDocuments({ prefix, timeoutMs }) });
}
