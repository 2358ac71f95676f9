import { checkClaim, readSource } from '../../../../activities/retrieval/verification/check-claim.js';
import { readStatement } from '../../../../activities/retrieval/verification/read-statement.js';

/** What speaks against a source as that of a claim; null: it supports it. */
export function check(source: string, claim: string): string | null {
  return checkClaim(readStatement(claim), readSource(source));
}
