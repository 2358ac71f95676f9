import type { NewAlert } from '../../../schemas/signals/signals.js';
import type { GeoLookup } from './geo-lookup.js';

type Fields = NewAlert['fields'];

/**
 * Adds where the source lies: looked up by its address, else by its value, without a prefix length (proxy spec, 5.3).
 * The database wins over what the signal says; where it is silent the signal's own country and place stay.
 */
export function enrich(fields: Fields, lookup: GeoLookup | null): Fields {
  const address = (fields.sourceIp ?? fields.sourceValue ?? '').split('/', 1)[0]!.trim();
  const place = lookup === null ? null : lookup(address);
  if (place === null) return fields;
  // A latitude of one source and a longitude of another name no place: both are taken from the same.
  const located = place.latitude !== null && place.longitude !== null;
  return {
    ...fields,
    geoCountryCode: place.countryCode ?? fields.geoCountryCode,
    geoCountryName: place.countryName,
    geoCity: place.city,
    geoRegion: place.region,
    geoLatitude: located ? place.latitude : fields.geoLatitude,
    geoLongitude: located ? place.longitude : fields.geoLongitude,
    geoTimezone: place.timezone,
  };
}
