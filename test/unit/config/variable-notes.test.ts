import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { VARIABLE_GROUPS } from '../../../schemas/config/environment.js';
import { described, describeVariable } from '../../../schemas/config/variable-notes.js';

test('variables of a shared schema have notes of their own', () => {
  const path = z.string().optional();
  const [certificate, key] = [described(path, 'a certificate'), described(path, 'its key', { secret: true })];
  expect(describeVariable('CERT_FILE', certificate)).toEqual({
    name: 'CERT_FILE',
    fallback: null,
    meaning: 'a certificate',
  });
  expect(describeVariable('KEY_FILE', key)).toMatchObject({ meaning: 'its key', secret: true });
  expect(() => describeVariable('OTHER', path)).toThrow('OTHER has no description');
});

test('a certificate, who signs it and its key are told apart', () => {
  const stores = VARIABLE_GROUPS.flatMap(({ variables }) => variables);
  const meaningOf = (wanted: string) => stores.find(({ name }) => name === wanted)?.meaning;
  expect(meaningOf('OPENSEARCH_CA_FILE')).toBe("certificates (PEM) that sign the server's");
  expect(meaningOf('OPENSEARCH_CLIENT_CERT_FILE')).toContain('our certificate');
  expect(meaningOf('OPENSEARCH_CLIENT_KEY_FILE')).toBe('and its key (PEM)');
});
