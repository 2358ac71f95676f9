/**
 * Reads and writes go to an alias, so that a migration can put another index behind it in one call without that any is
 * refused. The first index has the name that was used before there was an alias.
 */
export interface IndexNames {
  alias: string;
  first: string;
}

export function indexNames({ indexPrefix }: { indexPrefix: string }): IndexNames {
  return {
    alias: `${indexPrefix}chunks`,
    first: `${indexPrefix}chunks-v3`,
  };
}
