import type { MemorySetting } from '../memory-fault.js';
import type { Workbench } from '../workbench.js';

/** A program on this machine that can do the job, and which of its kinds it is. */
export interface Program {
  readonly path: string;
  readonly kind: string;
  /** For the person who watches: what it is and where it came from. */
  readonly label: string;
}

/**
 * The ways to come by something, in this order: (a) `variable` in the environment names it, then nothing is touched;
 * (b) installed on this machine; (c) kept from an earlier run; (d) downloaded from its makers, given up after a few
 * seconds without an answer; (e) built or assembled from package registries. Null: not this way.
 */
export interface Obtainable {
  readonly name: string;
  readonly variable: string;
  find(bench: Workbench): Promise<Program | null>;
  kept(bench: Workbench): Promise<Program | null>;
  download(bench: Workbench): Promise<Program | null>;
  build(bench: Workbench): Promise<Program>;
}

/** How to run a program as a service. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Another user to run as: only when we are root and the service refuses root. */
  readonly uid?: number;
  /** What a busy machine may take until it answers. */
  readonly readySeconds: number;
  readonly expectedSeconds: number;
  readonly memory?: MemorySetting;
}

/** Without one of these nothing works. */
export type EngineName = 'temporal' | 'mongodb' | 'opensearch';
export type OptionalName = 'redis' | 'ollama';
/** Used by another service alone, which opens it. */
export type NeededName = 'postgres';
export type ServiceName = EngineName | OptionalName | NeededName;

export interface Service extends Obtainable {
  readonly name: ServiceName;
  /** For a service that can be done without. `obtains`: it is downloaded or built without being asked for. */
  readonly optional?: { readonly obtains: boolean; readonly without: string };
  /** The usual ports; the first one is the address. */
  readonly ports: readonly number[];
  /** Another service that this program stores its data in: opened first, and its address handed to `launch`. */
  needs?(program: Program): Service | null;
  launch(
    bench: Workbench,
    program: Program,
    ports: readonly number[],
    neededAddress: string | null,
  ): Promise<Launch>;
  /** What the rest of the world calls it, as in `endpoints.json`. */
  addresses(ports: readonly number[]): Readonly<Record<string, string>>;
  /** Asks the service itself. */
  ready(bench: Workbench, address: string): Promise<boolean>;
  /** Whether it answers at all, where `ready` asks for more than that. */
  answers?(bench: Workbench, address: string): Promise<boolean>;
}
