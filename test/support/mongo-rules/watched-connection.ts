import { connectMongo } from '../../../activities/stores/mongo/connect-mongo.js';
import { createCommandChecker } from './command-checker.js';

type Connection = Awaited<ReturnType<typeof connectMongo>>;

/** The driver tells of each command when its URL asks for it. */
function monitored(url: string): string {
  const hasPath = /^[^:]+:\/\/[^/?]+\//.test(url);
  if (url.includes('?')) return `${url}&monitorCommands=true`;
  return `${url}${hasPath ? '' : '/'}?monitorCommands=true`;
}

/**
 * A connection as the product makes it, whose commands are read for what MongoDB would refuse.
 * `refused` names each form once.
 */
export async function connectWatched(options: {
  url: string;
  database: string;
}): Promise<Connection & { refused(): string[] }> {
  const connection = await connectMongo({ ...options, url: monitored(options.url) });
  const checker = createCommandChecker();
  const refused = new Set<string>();
  let seen = 0;
  connection.client.on('commandStarted', ({ databaseName, commandName, command }) => {
    seen += 1;
    for (const { error, why } of checker.check(databaseName, command))
      refused.add(`${commandName} on ${String(command[commandName])}: ${error}: ${why}`);
  });
  return {
    ...connection,
    refused() {
      // A watch that saw nothing would find nothing.
      if (seen === 0) refused.add('no command was seen: the driver told of none');
      return [...refused];
    },
  };
}
