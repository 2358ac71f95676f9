import { randomUUID } from 'node:crypto';

type Body = Record<string, unknown>;

export interface SmokeOptions {
  base: string;
  /** An administrator's. */
  token: string;
  /** Where the front end's pages come from; one of CORS_EXTRA_ORIGINS. */
  origin: string;
  /** Runs the indexing of an upload, or waits until it has run. */
  settle(taskStatusUrl: string): Promise<void>;
}

/** A field that is there, of one of these types; `null` counts as a type. */
const requireField = (where: string, body: unknown, name: string, ...types: string[]): unknown => {
  const value = (body as Body | null)?.[name];
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  if (types.includes(type)) return value;
  throw new Error(`${where}: ${name} is ${type}, and not ${types.join(' or ')}`);
};

const requireFields = (where: string, body: unknown, fields: Record<string, string>): void => {
  for (const [name, types] of Object.entries(fields)) requireField(where, body, name, ...types.split('|'));
};

/** An unset date is drawn as a dash; a set one must be one. */
const requireDate = (where: string, text: unknown): void => {
  if (text == null || text === '') return;
  if (Number.isNaN(Date.parse(String(text)))) throw new Error(`${where}: ${String(text)} is no date`);
};

/**
 * The calls of the indexer front end, in its order, and the fields it reads (wire contract, section 5); nothing else.
 * @throws Error that names the call and the field
 */
export const smokeFrontEnd = async (options: SmokeOptions): Promise<void> => {
  const { base, token, origin } = options;
  const headers = { Authorization: `Bearer ${token}`, Origin: origin };

  const call = async (method: string, path: string, init: { body?: FormData; status?: number } = {}) => {
    const where = `${method} ${path}`;
    const response = await fetch(`${base}${path}`, {
      ...{ method, headers, redirect: 'error' },
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${where}: ${response.status} ${text}`);
    if (response.headers.get('access-control-allow-origin') !== origin)
      throw new Error(`${where}: a browser would keep the answer from the page`);
    return { where, body: text === '' ? null : (JSON.parse(text) as Body) };
  };
  const list = async (path: string, name: string) => {
    const { where, body } = await call('GET', path);
    return { where, rows: requireField(where, body, name, 'array') as Body[] };
  };

  // The login check, from another origin.
  for (const method of ['GET', 'POST', 'DELETE']) {
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
  await call('GET', '/health_check');

  const me = await call('GET', '/users/info');
  requireFields(me.where, me.body, {
    ...{ id: 'number', display_name: 'string|null', is_admin: 'boolean', memberships: 'array' },
    ...{ file_count: 'number', pending_files: 'number', total_files: 'number', file_quota: 'number' },
  });

  // New partitions are named in the upload itself; files go one after the other.
  const partition = `smoke-${randomUUID()}`;
  const fileIds = [randomUUID(), randomUUID()];
  for (const [index, fileId] of fileIds.entries()) {
    const form = new FormData();
    form.append('file', new Blob([`# Smoke\n\nFile number ${index} of ${partition}.`]), `smoke-${index}.md`);
    form.append('metadata', JSON.stringify({ mimetype: 'text/markdown', created_at: '2026-01-02' }));
    const path = `/indexer/partition/${partition}/file/${fileId}`;
    const { where, body } = await call('POST', path, { body: form });
    await options.settle(String(requireField(where, body, 'task_status_url', 'string')));
  }

  {
    // It may send a `status` that nobody reads.
    const { where, rows } = await list('/queue/tasks?status=whatever', 'tasks');
    for (const row of rows) {
      requireFields(where, row, { task_id: 'string', state: 'string', details: 'object', url: 'string' });
      requireFields(where, row['details'], { file_id: 'string', partition: 'string', metadata: 'object' });
    }
    const finished = rows.filter(({ state }) => state === 'COMPLETED' || state === 'FAILED');
    const seen = new Set(finished.map(({ details }) => (details as Body)['file_id']));
    for (const id of fileIds) if (!seen.has(id)) throw new Error(`${where}: ${id} is not listed any more`);
  }

  const partitions = await list('/partition/', 'partitions');
  const row = partitions.rows.find((one) => one['partition'] === partition);
  requireFields(partitions.where, row, { partition: 'string', created_at: 'string', file_count: 'number' });
  requireDate(partitions.where, row?.['created_at']);
  if (row?.['file_count'] !== fileIds.length) throw new Error(`file_count is ${String(row?.['file_count'])}`);

  const files = await list(`/partition/${partition}`, 'files');
  for (const file of files.rows) {
    requireFields(files.where, file, {
      ...{ file_id: 'string', filename: 'string', link: 'string', partition: 'string', source: 'string' },
      ...{ created_at: 'string', indexed_at: 'string', file_size: 'string' },
    });
    requireDate(files.where, file['created_at']);
    requireDate(files.where, file['indexed_at']);
  }

  const detail = await call('GET', `/partition/${partition}/file/${fileIds[0]}`);
  requireFields(detail.where, requireField(detail.where, detail.body, 'metadata', 'object'), {
    page: 'number',
  });
  const documents = requireField(detail.where, detail.body, 'documents', 'array') as Body[];
  if (documents.length === 0) throw new Error(`${detail.where}: no documents`);
  for (const { link } of documents) {
    // The last path step is taken for the id.
    const extract = await call('GET', `/extract/${String(link).split('/').at(-1)}`);
    requireField(extract.where, extract.body, 'page_content', 'string');
    requireFields(extract.where, requireField(extract.where, extract.body, 'metadata', 'object'), {
      ...{ _id: 'string', partition: 'string', file_id: 'string', filename: 'string', page: 'number' },
      ...{ page_sep: 'string', source: 'string' },
    });
  }

  {
    const { where, rows } = await list('/actors/', 'actors');
    for (const actor of rows)
      requireFields(where, actor, {
        ...{ actor_id: 'string', namespace: 'string', name: 'string', class_name: 'string', state: 'string' },
      });
    const restartable = rows.find(({ name }) => name !== '');
    if (restartable === undefined) throw new Error(`${where}: none can be restarted`);
    await call('POST', `/actors/${String(restartable['name'])}/restart`);
  }

  await call('DELETE', `/indexer/partition/${partition}/file/${fileIds[0]}`);
  await call('DELETE', `/partition/${partition}`);

  const id = String(requireField(me.where, me.body, 'id', 'number'));
  const renewed = await call('POST', `/users/${id}/regenerate_token`);
  headers.Authorization = `Bearer ${String(requireField(renewed.where, renewed.body, 'token', 'string'))}`;
  await call('GET', '/users/info');
};
