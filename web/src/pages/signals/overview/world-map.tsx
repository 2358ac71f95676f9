import { Text } from '@mantine/core';
import { geoNaturalEarth1, geoPath } from 'd3-geo';
import { useMemo } from 'react';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import { Link } from 'wouter';
import atlas from 'world-atlas/countries-110m.json';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { to, withQuery } from '../../../shared/routes';
import { countryCodes } from './country-codes';
import classes from './world-map.module.css';

const WIDTH = 960;
const HEIGHT = 470;

/** Drawn once: outlines do not change, and the projection of all of them takes some milliseconds. */
const shapes = (() => {
  const topology = atlas as unknown as Topology<{ countries: GeometryCollection }>;
  const { features } = feature(topology, topology.objects.countries);
  const path = geoPath(geoNaturalEarth1().fitSize([WIDTH, HEIGHT], { type: 'Sphere' }));
  return features.map((country, index) => ({
    key: index,
    code: countryCodes.get(String(country.id)) ?? null,
    outline: path(country) ?? '',
  }));
})();

interface Props {
  countries: readonly { countryCode: string; count: number }[];
}

/** Countries by their count of alerts; each that has some leads to them. */
function WorldMap({ countries }: Props) {
  const { signals: t } = useMessages();
  const format = useFormat();
  const counts = useMemo(
    () => new Map(countries.map(({ countryCode: code, count }) => [code, count])),
    [countries],
  );
  const most = Math.max(1, ...counts.values());
  return (
    <figure className={classes['figure']}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className={classes['map']} role="group" aria-label={t.map}>
        {shapes.map(({ key, code, outline }) => {
          const count = code === null ? undefined : counts.get(code);
          if (code === null || count === undefined)
            return <path key={key} d={outline} className={classes['land']} />;
          const label = t.countryCount(format.country(code), format.number(count));
          // By the logarithm: one country often has more than all others together.
          const share = Math.log1p(count) / Math.log1p(most);
          return (
            <Link key={key} href={withQuery(to.alerts, { country: code })} aria-label={label}>
              <path d={outline} className={classes['hit']} fillOpacity={0.25 + 0.75 * share}>
                <title>{label}</title>
              </path>
            </Link>
          );
        })}
      </svg>
      <Text component="figcaption" size="sm" c="dimmed">
        {t.mapHint}
      </Text>
    </figure>
  );
}

export default WorldMap;
