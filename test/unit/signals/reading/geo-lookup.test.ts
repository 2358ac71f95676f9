import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { enrich } from '../../../../activities/signals/reading/enrich.js';
import { openGeoLookup } from '../../../../activities/signals/reading/geo-lookup.js';
import type { GeoLookup } from '../../../../activities/signals/reading/geo-lookup.js';
import { signalFields } from '../../../../activities/signals/reading/signal-fields.js';
import { writeMmdb } from '../../../support/write-mmdb.js';

let folder: string;
let lookup: GeoLookup;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tamis-geo-'));
  const file = join(folder, 'city.mmdb');
  await writeFile(
    file,
    writeMmdb({
      '203.0.113.0/24': {
        country: 'FR',
        name: 'France',
        city: 'Lille',
        region: 'Hauts-de-France',
        latitude: 50.6,
        longitude: 3.1,
        timezone: 'Europe/Paris',
      },
      '192.0.2.0/25': { country: 'GH', name: 'Ghana', latitude: 0, longitude: 0 },
      '2001:db8::/32': { country: 'DE', name: 'Germany' },
    }),
  );
  lookup = await openGeoLookup(file);
});
afterAll(() => rm(folder, { recursive: true }));

function fieldsOf(source: Record<string, unknown>) {
  return enrich(signalFields({ scenario: 'x', source }), lookup);
}

describe('the GeoIP database', () => {
  test('tells where an address lies', () => {
    expect(lookup('203.0.113.7')).toEqual({
      countryCode: 'FR',
      countryName: 'France',
      city: 'Lille',
      region: 'Hauts-de-France',
      latitude: 50.6,
      longitude: 3.1,
      timezone: 'Europe/Paris',
    });
    expect(lookup('2001:db8::1')).toMatchObject({ countryCode: 'DE', city: null, latitude: null });
    for (const unknown of ['198.51.100.1', '192.0.2.200', '2001:db9::1', '', 'x', '203.0.113.0/24'])
      expect(lookup(unknown)).toBeNull();
  });

  test('a file that is none is refused', async () => {
    await writeFile(join(folder, 'bad.mmdb'), 'not a database');
    await expect(openGeoLookup(join(folder, 'bad.mmdb'))).rejects.toThrow();
    await expect(openGeoLookup(join(folder, 'missing.mmdb'))).rejects.toThrow('ENOENT');
  });
});

describe('enrichment', () => {
  test('looks at the address, else at the value, without a prefix length', () => {
    expect(fieldsOf({ ip: '203.0.113.7', value: '2001:db8::1', cn: 'XX' })).toMatchObject({
      geoCountryCode: 'FR',
      geoCountryName: 'France',
      geoCity: 'Lille',
      sourceCn: 'XX',
      geoRegion: 'Hauts-de-France',
      geoTimezone: 'Europe/Paris',
      geoLatitude: 50.6,
    });
    expect(fieldsOf({ value: '203.0.113.0/24', scope: 'Range' }).geoCountryCode).toBe('FR');
  });

  test('a latitude and longitude of 0 are a place', () => {
    expect(fieldsOf({ ip: '192.0.2.1', latitude: 5, longitude: 6 })).toMatchObject({
      geoLatitude: 0,
      geoLongitude: 0,
    });
  });

  test('leaves what the signal says where the database is silent', () => {
    expect(fieldsOf({ ip: '2001:db8::1', latitude: 5, longitude: 6 })).toMatchObject({
      geoCountryCode: 'DE',
      geoLatitude: 5,
      geoLongitude: 6,
    });
    const signal = { scenario: 'x', source: { ip: '198.51.100.1', cn: 'IT' } };
    expect(enrich(signalFields(signal), lookup)).toEqual(signalFields(signal));
    expect(enrich(signalFields(signal), null)).toEqual(signalFields(signal));
  });
});
