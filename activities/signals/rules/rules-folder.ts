import { dirname, join } from 'node:path';

/**
 * Where the rules are: FILTERS_DIR, else `filters.d/` beside the file of CONFIG_PATH, else what is shipped. Rules of an
 * operator are not mixed with those: in allow mode they would let pass what the operator's do not name.
 */
export function rulesFolder(
  { rulesDirectory, configPath }: { rulesDirectory: string | null; configPath: string | null },
  shipped: string,
): string {
  return rulesDirectory ?? (configPath === null ? shipped : join(dirname(configPath), 'filters.d'));
}
