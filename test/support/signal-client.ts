import { randomUUID } from 'node:crypto';

/** A signal as a LAPI from 1.5 on pushes it (wire contract, section 6.3). */
export function sampleSignal(index: number, overrides: Record<string, unknown> = {}) {
  return {
    scenario: 'crowdsecurity/ssh-bf',
    scenario_hash: '4f6b5a12',
    scenario_version: '0.3',
    scenario_trust: 'certified',
    message: `signal ${index}`,
    machine_id: 'agent-1',
    start_at: '2026-11-21T08:00:00Z',
    stop_at: '2026-11-21T08:00:10Z',
    uuid: randomUUID(),
    context: null,
    source: {
      scope: 'Ip',
      value: `203.0.113.${index % 250}`,
      ip: `203.0.113.${index % 250}`,
      cn: 'FR',
      as_number: '64500',
    },
    decisions: [
      {
        id: 0,
        uuid: randomUUID(),
        origin: 'crowdsec',
        scenario: 'crowdsecurity/ssh-bf',
        scope: 'Ip',
        type: 'ban',
        value: `203.0.113.${index % 250}`,
        duration: '4h',
      },
    ],
    ...overrides,
  };
}

/** A LAPI: it logs in through the gateway and pushes with the token that it got. */
export function signalClient(gateway: string, machineId: string) {
  let token: string | undefined;
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${gateway}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'crowdsec/1.7.8-linux', ...headers },
      body: JSON.stringify(body),
    });
  return {
    machineId,
    token: () => token,
    async login(): Promise<void> {
      const response = await post('/v3/watchers/login', {
        machine_id: machineId,
        password: 'a-password',
        scenarios: ['crowdsecurity/ssh-bf'],
      });
      if (response.status !== 200) throw new Error(`login answered ${response.status}`);
      ({ token } = (await response.json()) as { token: string });
    },
    push: (signals: readonly unknown[], version: 'v2' | 'v3' = 'v3'): Promise<Response> =>
      post(`/${version}/signals`, signals, token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}
