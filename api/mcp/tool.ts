import { z } from 'zod';
import { losslessBody } from '../http/json.js';
import { badRequest } from '../../schemas/request-issues.js';
import type { CallerContext } from '../http/route.js';
import type { AskRoute } from './ask-route.js';

/** One call of a tool. */
export interface ToolCall {
  ctx: CallerContext;
  ask: AskRoute;
  /** Tells the client how far the call is, where it asked for that; `progress` must grow. */
  report(progress: number, total: number | null, message: string): void;
}

/** What a client may tell its user before a call; the words are those of the protocol. */
interface ToolAnnotations {
  title: string;
  readOnlyHint: boolean;
  /** May change or remove what is there. */
  destructiveHint: boolean;
  /** The second of two equal calls changes nothing. */
  idempotentHint: boolean;
  /** Reaches what is not ours. */
  openWorldHint: boolean;
}

export interface ToolDefinition<I extends z.ZodObject = z.ZodObject> {
  name: string;
  description: string;
  annotations: ToolAnnotations;
  input: I;
  output: z.ZodObject;
  run(call: ToolCall, args: z.output<I>): Promise<unknown>;
}

/** A tool in the table, its types forgotten: `run` is given what its own schema made. */
export interface Tool extends Omit<ToolDefinition, 'run'> {
  run(call: ToolCall, args: unknown): Promise<unknown>;
}

export function tool<const I extends z.ZodObject>(definition: ToolDefinition<I>): Tool {
  return definition;
}

/** Reads, and changes nothing. */
export function reading(title: string): ToolAnnotations {
  return {
    title,
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  };
}

/** Changes or removes what is there; again, it changes nothing more. */
export function destroying(title: string): ToolAnnotations {
  return {
    title,
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  };
}

/** Adds what was not there. */
export function adding(title: string, { openWorld = false } = {}): ToolAnnotations {
  return {
    title,
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: openWorld,
  };
}

/** Names and ids have 255 characters at most; over HTTP the length of a path bounds what is said of longer ones. */
export const NAME = z.string().max(255);
/** Likewise, what a query of the routes could hold. */
export const TEXT = z.string().max(16_000);

/** Arguments that several tools take. */
export const PARTITION = NAME.meta({ description: 'Name of a partition, as list_partitions gives it' });
export const FILE_ID = NAME.meta({ description: 'Id of a file within its partition' });
export const METADATA = z
  .record(z.string(), z.unknown())
  .meta({ description: 'Keys and values, as for an upload: at most 256 values and 64 KiB' });

/** Metadata as the field of a form has it, since the rules for them are those of uploads. */
export function metadataField(metadata: z.output<typeof METADATA>): string {
  try {
    return losslessBody(metadata);
  } catch (error) {
    // Nested deeper than the stack.
    if (error instanceof RangeError) throw badRequest('metadata is nested too deep');
    throw error;
  }
}

/** An extract of a document. */
export const Chunk = z.object({
  chunk_id: z.string(),
  content: z.string(),
  metadata: z.record(z.string(), z.unknown()),
});
