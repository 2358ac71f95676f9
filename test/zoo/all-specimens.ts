import { DOCUMENT_SPECIMENS } from './document-specimens.js';
import { PACKED_SPECIMENS } from './packed-specimens.js';
import type { Specimen } from './specimen.js';
import { TEXT_SPECIMENS } from './text-specimens.js';
import { TRAIT_SPECIMENS } from './trait-specimens.js';

/** Every file of the zoo. */
export const ZOO: readonly Specimen[] = [
  ...TEXT_SPECIMENS,
  ...DOCUMENT_SPECIMENS,
  ...PACKED_SPECIMENS,
  ...TRAIT_SPECIMENS,
];
