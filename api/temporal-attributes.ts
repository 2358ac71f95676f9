import { defineSearchAttributeKey } from '@temporalio/common';
import type { SearchAttributePair } from '@temporalio/common';

/** Registered by deploy, so that a person finds "all failed indexings of partition X" in the Temporal UI. */
const kindAttribute = defineSearchAttributeKey('TamisKind', 'KEYWORD');
const partitionAttribute = defineSearchAttributeKey('TamisPartition', 'KEYWORD');

/** As options of a start. */
export interface Attributes {
  typedSearchAttributes?: SearchAttributePair[];
}

export function attributesOf(kind: string, partition?: string): Attributes {
  return {
    typedSearchAttributes: [
      { key: kindAttribute, value: kind },
      ...(partition === undefined ? [] : [{ key: partitionAttribute, value: partition }]),
    ],
  };
}

/** The namespace lacks our search attributes: the service works without them. */
export function isUnknownAttribute(error: unknown): boolean {
  const text = `${String(error)} ${error instanceof Error ? String(error.cause) : ''}`;
  return /search attribute/i.test(text);
}
