import { readFile } from 'node:fs/promises';
import { Reader } from 'maxmind';
import type { CityResponse } from 'maxmind';
import { isIP } from 'node:net';
import type { Place } from '../rules/compiled-rule.js';

/** Where an address lies; null when the database does not know it, or it is none. */
export type GeoLookup = (address: string) => Place | null;

/**
 * Reads a city database in MMDB form (GeoLite2, DB-IP City Lite) into memory.
 * @throws Error when the file cannot be read or is no such database
 */
export async function openGeoLookup(path: string): Promise<GeoLookup> {
  const reader = new Reader<CityResponse>(await readFile(path));
  // eslint-disable-next-line complexity -- defaults of fields that a database leaves out
  return (address) => {
    if (isIP(address) === 0) return null;
    let found: CityResponse | null;
    try {
      found = reader.get(address);
    } catch {
      // A damaged database fails at some addresses only; a signal must not be lost for that.
      return null;
    }
    if (found === null || typeof found !== 'object') return null;
    const { country, city, subdivisions, location } = found;
    return {
      countryCode: text(country?.iso_code),
      countryName: text(country?.names?.en),
      city: text(city?.names?.en),
      region: text(subdivisions?.[0]?.names?.en),
      latitude: number(location?.latitude),
      longitude: number(location?.longitude),
      timezone: text(location?.time_zone),
    };
  };
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
