import type { Command } from 'commander';
import type { Run } from './context.js';

/** Of a command group whose runs are paused, resumed and given up by name. */
export interface Steered {
  /** The name of the group, as it is typed. */
  group: string;
  argument: 'name' | 'source';
  argumentDescription: string;
  pathOf: (target: string, word: string) => string;
}

/** Adds a command that asks a run to do something, and says where to see what came of it. */
export function addSteering(
  command: Command,
  run: Run,
  { group, argument, argumentDescription, pathOf }: Steered,
  { word, description, said }: { word: 'pause' | 'resume' | 'cancel'; description: string; said: string },
): void {
  command
    .command(word)
    .description(description)
    .argument(`<${argument}>`, argumentDescription)
    .action(
      run(async (context, _options, target: string) => {
        await context.gateway().ask('POST', pathOf(target, word));
        context.show({ [argument]: target, asked: word }, [`${said}: tamis ${group} status ${target}`]);
      }),
    );
}
