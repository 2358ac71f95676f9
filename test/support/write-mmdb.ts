import ipaddr from 'ipaddr.js';

type Value = string | number | Value[] | { [key: string]: Value };

interface Double {
  double: number;
}

function control(type: number, size: number): Buffer {
  const length = size < 29 ? [size] : [29, size - 29];
  const head = type < 8 ? [(type << 5) | length[0]!] : [length[0]!, type - 7];
  return Buffer.from([...head, ...length.slice(1)]);
}

/** A value of the data section; whole numbers as uint32, `{double}` as an IEEE 754 number. */
function encode(value: Value | Double): Buffer {
  if (typeof value === 'string')
    return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([control(6, 4), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  if (typeof (value as Double).double === 'number') {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE((value as Double).double);
    return Buffer.concat([control(3, 8), bytes]);
  }
  const entries = Object.entries(value as { [key: string]: Value });
  return Buffer.concat([
    control(7, entries.length),
    ...entries.flatMap(([key, inner]) => [encode(key), encode(inner)]),
  ]);
}

export interface MmdbPlace {
  country: string;
  name: string;
  city?: string;
  region?: string;
  latitude?: number;
  longitude?: number;
  timezone?: string;
}

function record(place: MmdbPlace): Buffer {
  return encode({
    country: { iso_code: place.country, names: { en: place.name, fr: 'autre' } },
    ...(place.city === undefined ? {} : { city: { names: { en: place.city } } }),
    ...(place.region === undefined ? {} : { subdivisions: [{ names: { en: place.region } }] }),
    location: {
      ...(place.latitude === undefined ? {} : { latitude: { double: place.latitude } }),
      ...(place.longitude === undefined ? {} : { longitude: { double: place.longitude } }),
      ...(place.timezone === undefined ? {} : { time_zone: place.timezone }),
    },
  });
}

/**
 * A small city database in MMDB form (MaxMind DB file format specification 2.0): an IPv6 tree with 24-bit records, IPv4
 * under `::/96`.
 */
export function writeMmdb(places: Record<string, MmdbPlace>): Buffer {
  const nodes: (number | { data: number } | null)[][] = [[null, null]];
  const data: Buffer[] = [];
  let offset = 0;
  for (const [range, place] of Object.entries(places)) {
    const [address, prefix] = ipaddr.parseCIDR(range);
    const v4 = address.kind() === 'ipv4';
    const bytes = [...(v4 ? new Array<number>(12).fill(0) : []), ...address.toByteArray()];
    const length = prefix + (v4 ? 96 : 0);
    let node = 0;
    for (let bit = 0; bit < length; bit += 1) {
      const side = (bytes[bit >> 3]! >> (7 - (bit & 7))) & 1;
      if (bit === length - 1) nodes[node]![side] = { data: offset };
      else {
        let next = nodes[node]![side];
        if (typeof next !== 'number') {
          next = nodes.push([null, null]) - 1;
          nodes[node]![side] = next;
        }
        node = next;
      }
    }
    const bytesOfPlace = record(place);
    data.push(bytesOfPlace);
    offset += bytesOfPlace.length;
  }
  const tree = Buffer.alloc(nodes.length * 6);
  nodes.forEach((sides, index) =>
    sides.forEach((side, which) => {
      const value =
        side === null ? nodes.length : typeof side === 'number' ? side : nodes.length + 16 + side.data;
      tree.writeUIntBE(value, index * 6 + which * 3, 3);
    }),
  );
  const metadata = encode({
    node_count: nodes.length,
    record_size: 24,
    ip_version: 6,
    database_type: 'Test-City',
    languages: ['en'],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    description: { en: 'written by a test' },
  });
  return Buffer.concat([
    tree,
    Buffer.alloc(16),
    ...data,
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    metadata,
  ]);
}
