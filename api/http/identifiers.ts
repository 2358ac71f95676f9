import { z } from 'zod';

/** What stands in the paths of the document routes, as it is; whether it can be a name is for the route to say. */
export const PartitionParams = z.object({ partition: z.string() });

export const FileParams = PartitionParams.extend({ file_id: z.string() });

/** An integer that no user has is one that is not found. */
export const UserNumber = z
  .string()
  .regex(/^-?\d{1,100}$/, 'must be an integer')
  .transform(Number);
