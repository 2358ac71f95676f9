/** One call of a page: what it sends, and what it reads of the answer. `{name}` stands for a value kept before. */
export interface PageCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  json?: unknown;
  /** Multipart; `file` is the file's text. */
  form?: Readonly<Record<string, string>>;
  filename?: string;
  status: number;
  /**
   * Fields that the page reads, by path, and their types: `string`, `integer|null`, `date` … In a path `[]` is every
   * element of a list, of which there must be one, and `[name=value]` the first with this member.
   */
  reads?: Readonly<Record<string, string>>;
  /** Fields that must have a value, which is compared as text. */
  finds?: Readonly<Record<string, string>>;
  /** Names under which later calls use a field. */
  keeps?: Readonly<Record<string, string>>;
  /** The same of links, of which a page takes the last path step for an id. */
  keepsLastStep?: Readonly<Record<string, string>>;
  /** A task is begun: the replay goes on when it has ended. */
  settles?: true;
}

export interface Page {
  name: string;
  /** It is said to hold JSON, also when there is no body. */
  sendsJsonType: boolean;
  calls: readonly PageCall[];
}

export interface ReplayOptions {
  base: string;
  /** An administrator's. */
  token: string;
  /** Where the page comes from; one of CORS_EXTRA_ORIGINS. */
  origin: string;
  /** Runs the indexing of an upload, or waits until it has run. */
  settle(taskStatusUrl: string): Promise<void>;
  /** Values that the calls of the page use. */
  values: Readonly<Record<string, string>>;
}

type Step =
  { kind: 'member'; name: string } | { kind: 'every' } | { kind: 'where'; name: string; value: string };

const CHECKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  date: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  absent: (value) => value === undefined,
};

/**
 * Makes the calls of a page in their order, from another origin, as a browser would.
 * @returns the values that were kept; `token` is the one that is valid now
 * @throws Error that names the call and the field
 */
export async function replayCalls(page: Page, options: ReplayOptions): Promise<Record<string, string>> {
  await requirePreflight(options, new Set(page.calls.map(({ method }) => method)));
  const values: Record<string, string> = { ...options.values, token: options.token };
  for (const call of page.calls) await replayCall(page, call, options, values);
  return values;
}

async function replayCall(
  page: Page,
  call: PageCall,
  { base, origin, settle }: ReplayOptions,
  values: Record<string, string>,
): Promise<void> {
  const path = fill(call.path, values);
  const where = `${page.name}: ${call.method} ${path}`;
  const headers = new Headers({ Authorization: `Bearer ${values['token']}`, Origin: origin });
  if (call.form === undefined && (page.sendsJsonType || call.json !== undefined))
    headers.set('Content-Type', 'application/json');
  const sent = bodyOf(call, values);
  const response = await fetch(`${base}${path}`, {
    method: call.method,
    headers,
    redirect: 'error',
    ...(sent === undefined ? {} : { body: sent }),
  });
  const text = await response.text();
  if (response.status !== call.status) throw new Error(`${where}: ${response.status} ${text.slice(0, 500)}`);
  if (response.headers.get('access-control-allow-origin') !== origin)
    throw new Error(`${where}: a browser would keep the answer from the page`);
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  const body: unknown = isJson && text !== '' ? JSON.parse(text) : text;

  for (const [field, types] of Object.entries(call.reads ?? {}))
    for (const value of valuesAt(where, body, fill(field, values)))
      if (!types.split('|').some((type) => CHECKS[type]?.(value) === true))
        throw new Error(`${where}: ${field} is ${JSON.stringify(value)}, and not ${types}`);
  for (const [field, expected] of Object.entries(call.finds ?? {}))
    for (const value of valuesAt(where, body, fill(field, values)))
      if (String(value) !== fill(expected, values))
        throw new Error(`${where}: ${field} is ${JSON.stringify(value)}, and not ${fill(expected, values)}`);
  for (const [name, field] of Object.entries(call.keeps ?? {}))
    values[name] = String(valuesAt(where, body, fill(field, values))[0]);
  for (const [name, field] of Object.entries(call.keepsLastStep ?? {}))
    values[name] =
      String(valuesAt(where, body, fill(field, values))[0])
        .split('/')
        .at(-1) ?? '';
  if (call.settles === true) await settle(String(valuesAt(where, body, 'task_status_url')[0]));
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

function bodyOf(
  { json, form, filename }: PageCall,
  values: Record<string, string>,
): FormData | string | undefined {
  if (json !== undefined) return fill(JSON.stringify(json), values);
  if (form === undefined) return undefined;
  const data = new FormData();
  for (const [name, value] of Object.entries(form))
    if (name === 'file') data.append(name, new Blob([fill(value, values)]), filename ?? 'notes.md');
    else data.append(name, fill(value, values));
  return data;
}

function stepsOf(path: string): Step[] {
  return [...path.matchAll(/\[([^\]]*)\]|[^.[\]]+/g)].map(([whole, inside]): Step => {
    if (inside === undefined) return { kind: 'member', name: whole };
    const [name = '', ...value] = inside.split('=');
    return inside === '' ? { kind: 'every' } : { kind: 'where', name, value: value.join('=') };
  });
}

/** Every value that a path leads to. @throws Error where a list is none, or has no such element */
function valuesAt(where: string, body: unknown, path: string): unknown[] {
  let found: unknown[] = [body];
  for (const step of stepsOf(path))
    found = found.flatMap((value) => {
      if (step.kind === 'member') return [(value as Record<string, unknown> | null)?.[step.name]];
      const list: unknown[] = Array.isArray(value) ? value : [];
      const chosen =
        step.kind === 'every'
          ? list
          : list
              .filter((one) => String((one as Record<string, unknown>)[step.name]) === step.value)
              .slice(0, 1);
      if (chosen.length === 0) throw new Error(`${where}: ${path} leads to nothing`);
      return chosen;
    });
  return found;
}

/** The question of a browser before the first call; it carries no token. */
async function requirePreflight(
  { base, origin }: ReplayOptions,
  methods: ReadonlySet<string>,
): Promise<void> {
  for (const method of methods) {
    const preflight = await fetch(`${base}/health_check`, {
      method: 'OPTIONS',
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': method,
        'Access-Control-Request-Headers': 'authorization,content-type',
      },
    });
    const allowed = preflight.headers.get('access-control-allow-methods') ?? '';
    if (!preflight.ok || !allowed.includes(method))
      throw new Error(`preflight of ${method}: ${preflight.status}`);
  }
}
