import type { CampaignClient } from './gateway-kills.js';
import { freePort } from './free-port.js';
import { startRelease } from './release-process.js';
import type { ReleaseProcess } from './release-process.js';
import type { RunningStack } from './running-stack.js';

type Kind = 'gateway' | 'worker';

interface Member {
  kind: Kind;
  name: string;
  port: number;
  process: ReleaseProcess | null;
  kills: number;
}

/** The gateway and worker that the launcher compiled. */
function presentBuild() {
  const folder = process.env['TAMIS_TEST_BUILD'];
  if (folder === undefined) throw new Error('run this with `npm run test:scale`');
  return { name: 'this release', folder, remove: () => undefined };
}

/**
 * Several gateways and workers over one set of stores, of which one after the other can be killed, and clients as a
 * balancer serves them: each request goes to the next gateway. One is sent again only when it got no answer because its
 * gateway was killed, or was told so by 503 with Retry-After; any other answer is final, and any other failure of a
 * connection is one of the service.
 */
export async function openFleet(
  stack: RunningStack,
  { gateways, workers }: { gateways: number; workers: number },
) {
  const build = presentBuild();
  const memberOf = async (kind: Kind, at: number): Promise<Member> => {
    const port = await freePort();
    return { kind, name: `${kind} ${at}`, port, process: null, kills: 0 };
  };
  const members: Member[] = [];
  for (let at = 1; at <= gateways; at += 1) members.push(await memberOf('gateway', at));
  for (let at = 1; at <= workers; at += 1) members.push(await memberOf('worker', at));
  const start = async (member: Member): Promise<void> => {
    const environment = { ...stack.environment, PORT: String(member.port) };
    member.process = await startRelease(member.kind, build, environment);
  };
  await Promise.all(members.map(start));
  const doors = members.filter(({ kind }) => kind === 'gateway');

  let turn = 0;
  let refused = 0;
  const clients: CampaignClient[] = [];

  return {
    names: members.map(({ name }) => name),
    /** SIGKILL, and a new process in its place. */
    async replace(name: string): Promise<void> {
      const member = members.find((one) => one.name === name)!;
      member.kills += 1;
      const { process: old } = member;
      member.process = null;
      await old?.kill();
      await start(member);
    },
    /** How often a client has sent a request again, and how many of these were answered 503. */
    repeated: () => ({ all: clients.reduce((sum, client) => sum + client.repeated(), 0), refused }),
    client(): CampaignClient {
      let repeated = 0;
      const client: CampaignClient = {
        repeated: () => repeated,
        async request(path, init = {}) {
          const target = path.startsWith('http') ? new URL(path).pathname + new URL(path).search : path;
          for (;;) {
            const door = doors[(turn += 1) % doors.length]!;
            const { kills, process: before } = door;
            try {
              const response = await fetch(`http://127.0.0.1:${door.port}${target}`, {
                ...init,
                headers: { authorization: `Bearer ${stack.token}`, ...init.headers },
              });
              const body = await response.arrayBuffer();
              if (response.status !== 503 || response.headers.get('retry-after') === null)
                return new Response(body.byteLength === 0 ? null : body, response);
              refused += 1;
            } catch (error) {
              if (kills === door.kills && before !== null) throw error;
            }
            repeated += 1;
            await new Promise((resolve) => setTimeout(resolve, 100));
          }
        },
      };
      clients.push(client);
      return client;
    },
    async close(): Promise<void> {
      await Promise.all(members.map(async ({ process: running }) => running?.stop()));
    },
  };
}
