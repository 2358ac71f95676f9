import type { NewAlert } from '../../../schemas/signals/signals.js';
import type { Facts } from './compiled-rule.js';

/** What rules may ask about an alert beside its signal, from its columns after enrichment. */
export const factsOf = (fields: NewAlert['fields'], proxy: Facts['proxy']): Facts => ({
  geo: {
    countryCode: fields.geoCountryCode,
    countryName: fields.geoCountryName,
    city: fields.geoCity,
    region: fields.geoRegion,
    latitude: fields.geoLatitude,
    longitude: fields.geoLongitude,
    timezone: fields.geoTimezone,
  },
  proxy: { watcher: proxy.watcher, version: proxy.version },
});
