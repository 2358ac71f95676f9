import { z } from 'zod';

/** What README's table and `deploy/env.example` say of a variable besides its default. */
export interface VariableNotes {
  /** Markdown, one line, without a vertical bar: it stands in a table. */
  readonly meaning: string;
  /** Of the number that it holds. */
  readonly unit?: string;
  /** What holds where it is unset, if the schema has no default; left out: nothing in particular. */
  readonly unset?: string;
  /** Fixed in `docker-compose.yml` or in the image, so that `.env` does not offer it. */
  readonly fixedByCompose?: boolean;
  /** May stand in a file that `NAME_FILE` names, as Docker and Kubernetes hand secrets over. */
  readonly secret?: boolean;
}

const notes = z.registry<VariableNotes>();

/** Puts what documents say of a variable beside a schema of its own: variables may be described from a shared one. */
export function described<Schema extends z.ZodType>(
  schema: Schema,
  meaning: string,
  more: Omit<VariableNotes, 'meaning'> = {},
): Schema {
  const own = schema.clone();
  notes.add(own, { meaning, ...more });
  return own;
}

/** One variable as documents show it. */
export interface DescribedVariable extends VariableNotes {
  readonly name: string;
  /** As it would be written in a file; null: there is none. */
  readonly fallback: string | null;
}

/** @throws Error when the schema of a variable was not described */
export function describeVariable(name: string, schema: z.ZodType): DescribedVariable {
  const found = notes.get(schema);
  if (found === undefined) throw new Error(`${name} has no description`);
  return { name, fallback: writtenDefault(schema), ...found };
}

/** Defaults stand inside of transformations: what a file would say comes before them. */
function writtenDefault(schema: z.core.$ZodType): string | null {
  if (schema instanceof z.ZodDefault) {
    const value: unknown = schema.def.defaultValue;
    return Array.isArray(value) || value === '' ? null : String(value);
  }
  return schema instanceof z.ZodPipe ? writtenDefault(schema.def.in) : null;
}
