import type { RunningStack } from './running-stack.js';

/** A client of a stack whose gateway is killed meanwhile. */
export interface CampaignClient {
  request: RunningStack['request'];
  /** How often a request was sent again; what it then finds may be its own earlier doing. */
  repeated(): number;
}

/**
 * Kills of a gateway, and clients that know of them: a request is sent again only when it got no answer because the
 * gateway was killed. Any other failure of a connection is one of the service, and any answer is final.
 */
export function gatewayKills(stack: Pick<RunningStack, 'request' | 'killGateway' | 'startGateway'>) {
  let kills = 0;
  let isAway = false;
  const clients: CampaignClient[] = [];
  return {
    async kill(): Promise<void> {
      kills += 1;
      isAway = true;
      await stack.killGateway();
      await stack.startGateway();
      isAway = false;
    },
    /** How often a client has sent a request again. */
    repeated: () => clients.reduce((sum, client) => sum + client.repeated(), 0),
    client(): CampaignClient {
      let repeated = 0;
      const client: CampaignClient = {
        repeated: () => repeated,
        async request(path, init) {
          for (;;) {
            const before = kills;
            const wasAway = isAway;
            try {
              const response = await stack.request(path, init);
              const body = await response.arrayBuffer();
              return new Response(body.byteLength === 0 ? null : body, response);
            } catch (error) {
              if (kills === before && !wasAway) throw error;
              repeated += 1;
              await new Promise((resolve) => setTimeout(resolve, 50));
            }
          }
        },
      };
      clients.push(client);
      return client;
    },
  };
}
