import type { Obtainable, Program } from './services/service.js';
import type { Workbench } from './workbench.js';

/** Steps (b) to (e) of a service; (a), a URL in the environment, is the caller's: then there is nothing to obtain. */
export async function obtain(bench: Workbench, thing: Obtainable): Promise<Program> {
  const here = (await thing.find(bench)) ?? (await thing.kept(bench));
  if (here) return here;
  bench.report.phase(thing.name, 'looking for a download');
  const program = (await thing.download(bench)) ?? (await thing.build(bench));
  bench.report.done(thing.name, `${program.label} is ready in ${bench.paths.cache}`);
  return program;
}
