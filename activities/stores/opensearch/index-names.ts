/**
 * Reads and writes go to an alias, so that a migration can put another index behind it in one call without that any is
 * refused. The first index has the name that was used before there was an alias.
 */
export interface IndexNames {
  alias: string;
  first: string;
}

export const indexNames = ({ indexPrefix }: { indexPrefix: string }): IndexNames => ({
  alias: `${indexPrefix}chunks`,
  first: `${indexPrefix}chunks-v3`,
});
