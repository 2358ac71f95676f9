import type { WhoisFacts } from '../../ports/ip-info.js';
import { withoutGaps } from './rdap-answer.js';

/** What stands behind on a line is not looked at. */
const MAX_LENGTH = 1_000;
const ADDRESS = /(?<![^\s<>'",;:])[^\s<>'",;:]+@[^\s<>'",;]+[^\s<>'",;.]/;

/** Which of our fields a label of the registries stands for. */
const FIELDS: Readonly<Record<string, keyof WhoisFacts>> = {
  netname: 'netName',
  inetnum: 'netRange',
  inet6num: 'netRange',
  netrange: 'netRange',
  cidr: 'cidr',
  route: 'cidr',
  route6: 'cidr',
  orgname: 'organization',
  'org-name': 'organization',
  organization: 'organization',
  owner: 'organization',
  country: 'country',
  descr: 'descr',
};

/** The nearest network stands last; who owns it, first. */
const LAST_WINS: ReadonlySet<keyof WhoisFacts> = new Set(['netName', 'netRange']);

/** What the text of a registry says of a network (proxy spec, 5.4). Null when it says nothing that we show. */
export function readWhoisAnswer(answer: string): WhoisFacts | null {
  const facts: { [Name in keyof WhoisFacts]: string | undefined } = {};
  for (const whole of answer.split(/\r?\n/)) {
    const line = whole.slice(0, MAX_LENGTH);
    if (/abuse/i.test(line) && /mail|contact/i.test(line)) facts.abuse ??= ADDRESS.exec(line)?.[0];
    const [, label = '', said = ''] = /^([A-Za-z0-9-]+):(.*)$/.exec(line) ?? [];
    const field = FIELDS[label.toLowerCase()];
    const value = said.trim();
    if (field === undefined || value === '') continue;
    if (facts[field] === undefined || LAST_WINS.has(field)) facts[field] = value;
  }
  return withoutGaps({ ...facts, country: facts.country?.toUpperCase() });
}

/** The registry that IANA refers to; null when it names none. */
export function referralOf(answer: string): string | null {
  return /^(?:refer|whois):[^\S\n]*(\S+)[^\S\n]*$/im.exec(answer)?.[1]?.toLowerCase() ?? null;
}
