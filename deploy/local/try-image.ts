import { setTimeout as sleep } from 'node:timers/promises';
import { LauncherError } from './launcher-error.js';
import type { Workbench } from './workbench.js';

const TIMEOUT_MS = 120_000;
const TEXT = 'The lighthouse at Skerry Point was lit in 1871, and its keeper was Ann Marrow.';

/** One document through gateway, worker and parser process, and found again. */
export async function tryImage(bench: Workbench, gateway: string, token: string): Promise<void> {
  const call = async (method: string, path: string, body?: FormData): Promise<Record<string, unknown>> => {
    const response = await fetch(new URL(path, gateway), {
      method,
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.any([bench.signal, AbortSignal.timeout(30_000)]),
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new LauncherError(`docker: ${method} ${path} was answered ${response.status}: ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  };
  bench.report.phase('docker', 'sending a document through both');
  const form = new FormData();
  form.append('file', new Blob([TEXT], { type: 'text/plain' }), 'light.txt');
  const { task_status_url: task } = await call('POST', '/indexer/partition/image/file/light', form);
  for (const deadline = Date.now() + TIMEOUT_MS; ; await sleep(250)) {
    const { task_state: state } = await call('GET', String(task));
    if (state === 'COMPLETED') break;
    if (state === 'FAILED' || Date.now() > deadline)
      throw new LauncherError(`docker: the document's task is ${String(state)}`);
  }
  const { documents } = await call('GET', '/search/partition/image?text=keeper+of+the+lighthouse');
  if (!JSON.stringify(documents).includes('Ann Marrow'))
    throw new LauncherError('docker: the document is not found');
  const console = await fetch(new URL('/app/', gateway), { headers: { accept: 'text/html' } });
  const page = await console.text();
  const [, script = ''] = /<script [^>]*src="([^"]+)"/.exec(page) ?? [];
  const packed = await fetch(new URL(script, gateway), { headers: { 'accept-encoding': 'br' } });
  await packed.arrayBuffer();
  if (!console.ok || !packed.ok || packed.headers.get('content-encoding') !== 'br')
    throw new LauncherError(`docker: the console is not served: ${console.status} ${page.slice(0, 200)}`);
  bench.report.done('docker', 'a document was indexed and found, and the console is served');
}
