import { LauncherError } from './launcher-error.js';
import { openService } from './open-service.js';
import type { OnProcess } from './open-service.js';
import type { Service } from './services/service.js';
import type { Workbench } from './workbench.js';

/**
 * A service that can be done without: opened where it is at hand, and where it obtains itself unasked. Null: not to
 * be had, which is said plainly and is no failure. One that the user names must answer, as any other.
 */
export async function openOptional(
  bench: Workbench,
  service: Service,
  onProcess: OnProcess,
): Promise<string | null> {
  const { name, optional, variable } = service;
  if (bench.settings[variable] !== undefined) return await openService(bench, service, onProcess);
  const atHand = (await service.find(bench)) ?? (await service.kept(bench));
  if (!atHand && !optional?.obtains) return skip();
  try {
    return await openService(bench, service, onProcess);
  } catch (error) {
    bench.signal.throwIfAborted();
    if (!(error instanceof LauncherError)) throw error;
    return skip(error.message);
  }

  async function skip(why?: string): Promise<null> {
    bench.report.gone(name);
    bench.report.say(
      `  ! ${why ?? `${name} is not installed here`}; ${optional?.without ?? 'it is done without'}`,
    );
    await bench.record.change(({ addresses }) => void delete addresses[name]);
    return null;
  }
}
