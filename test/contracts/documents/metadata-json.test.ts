import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  metadataFromText,
  metadataToText,
} from '../../../activities/stores/mongo/documents/metadata-json.js';
import type { Metadata } from '../../../schemas/documents/documents.js';
import { AWKWARD_METADATA } from '../samples.js';

describe('metadata as text', () => {
  test('keeps what MongoDB and doubles would change', () => {
    expect(metadataFromText(metadataToText(AWKWARD_METADATA))).toEqual(AWKWARD_METADATA);
  });

  test('a key named like the prototype is data', () => {
    const given = JSON.parse('{"a": {"__proto__": {"x": 1}, "constructor": 2}}') as Metadata;
    const back = metadataFromText(metadataToText(given));
    const entriesOf = (metadata: Metadata) => Object.entries(metadata['a'] ?? {}).sort();
    expect(entriesOf(back)).toEqual(entriesOf(given));
    expect(entriesOf(back)).toHaveLength(2);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('any JSON comes back', () => {
    const safe = fc
      .dictionary(fc.string(), fc.jsonValue())
      .filter((value) => !JSON.stringify(value).includes('__proto__'));
    fc.assert(
      fc.property(safe, (given) => {
        const text = metadataToText(given as Metadata);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(given)));
        expect(metadataToText(metadataFromText(text))).toBe(text);
      }),
    );
  });
});
