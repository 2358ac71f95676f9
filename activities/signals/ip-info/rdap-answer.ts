import { isObject } from '../../../schemas/is-object.js';
import type { WhoisFacts } from '../../ports/ip-info.js';

type Json = Record<string, unknown>;

function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, MAX_LENGTH) : undefined;
}

const MAX_LENGTH = 1_000;
/** Contacts stand inside contacts; real answers are two levels deep. */
const MAX_DEPTH = 5;

/** A property of a jCard (RFC 7095): `["vcard", [[name, parameters, type, value], …]]`. */
function cardValue(entity: Json, name: string): string | undefined {
  const [, properties] = Array.isArray(entity['vcardArray']) ? (entity['vcardArray'] as unknown[]) : [];
  for (const property of Array.isArray(properties) ? (properties as unknown[]) : [])
    if (Array.isArray(property) && property[0] === name) {
      const value = text(property[3]);
      if (value !== undefined) return value;
    }
  return undefined;
}

/** The first value of a property among the entities with a role, the outer ones first. */
function ofRole(entities: readonly Json[], role: string, name: string, depth = 0): string | undefined {
  for (const entity of entities)
    if (Array.isArray(entity['roles']) && entity['roles'].includes(role)) {
      const value = cardValue(entity, name);
      if (value !== undefined) return value;
    }
  if (depth >= MAX_DEPTH) return undefined;
  for (const entity of entities) {
    const value = ofRole(objects(entity['entities']), role, name, depth + 1);
    if (value !== undefined) return value;
  }
  return undefined;
}

function cidrs(answer: Json): string | undefined {
  return text(
    objects(answer['cidr0_cidrs'])
      .flatMap(({ v4prefix, v6prefix, length }) => {
        const prefix = text(v4prefix) ?? text(v6prefix);
        return prefix !== undefined && typeof length === 'number' ? [`${prefix}/${length}`] : [];
      })
      .join(', '),
  );
}

/** What an RDAP answer about a network says (RFC 9083, section 5.4). Null when it says nothing that we show. */
export function readRdapAnswer(answer: unknown): WhoisFacts | null {
  if (!isObject(answer)) return null;
  const entities = objects(answer['entities']);
  const [start, end] = [text(answer['startAddress']), text(answer['endAddress'])];
  const [remark] = objects(answer['remarks']);
  const described = Array.isArray(remark?.['description'])
    ? remark['description'].filter((line) => typeof line === 'string').join(' ')
    : undefined;
  return withoutGaps({
    netName: text(answer['name']),
    netRange: start !== undefined && end !== undefined ? `${start} - ${end}` : undefined,
    cidr: cidrs(answer),
    organization: ofRole(entities, 'registrant', 'fn') ?? ofRole(entities, 'registrant', 'org'),
    country: text(answer['country'])?.toUpperCase(),
    descr: text(described),
    abuse: ofRole(entities, 'abuse', 'email'),
  });
}

/** Only what is known; null when nothing is. */
export function withoutGaps(facts: { [Name in keyof WhoisFacts]: string | undefined }): WhoisFacts | null {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return known.length === 0 ? null : Object.fromEntries(known);
}
