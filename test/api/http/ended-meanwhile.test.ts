import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { until } from '../../support/until.js';
import { startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';

let gateway: Gateway;
let admin: { token: string; userId: number };
beforeEach(async () => {
  gateway = await startGateway();
  admin = gateway.addUser('operator', { is_admin: true });
});
afterEach(() => gateway.close());

/** Sends all of a body but its end once the caller was admitted, and that when `meanwhile` is done, a second later. */
async function sendSlowly(path: string, body: object, meanwhile: () => Promise<unknown>): Promise<number> {
  const bytes = Buffer.from(JSON.stringify(body));
  const asked = jest.spyOn(gateway.adapters.users, 'findByTokenDigest');
  const answered = new Promise<number>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${admin.token}`,
      'content-type': 'application/json',
      'content-length': bytes.length,
    };
    const sent = request(`${gateway.url}${path}`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', reject);
    sent.write(bytes.subarray(0, -1));
    const endSlowly = async (): Promise<void> => {
      await until('it was admitted', async () => asked.mock.calls.length > 0);
      const admittedAt = performance.now();
      await meanwhile();
      await until('a second is over', async () => performance.now() - admittedAt > 1_200);
      sent.end(bytes.subarray(-1));
    };
    void endSlowly().catch(reject);
  });
  return answered.finally(() => asked.mockRestore());
}

describe('a caller whose right ends while the body of the request comes', () => {
  it('is served where it still holds', async () => {
    expect(await sendSlowly('/users/', { display_name: 'Grace' }, async () => undefined)).toBe(201);
  });

  it('is refused with a token that was made anew', async () => {
    const path = `/users/${admin.userId}/regenerate_token`;
    const revoke = async () => {
      expect((await gateway.call('POST', path, { token: admin.token })).status).toBe(200);
    };
    expect(await sendSlowly('/users/', { display_name: 'Eve', is_admin: true }, revoke)).toBe(403);
  });

  it('is refused as an administrator who is none any more', async () => {
    const demote = () => gateway.adapters.users.update(admin.userId, { is_admin: false });
    expect(await sendSlowly('/users/', { display_name: 'Eve' }, demote)).toBe(403);
  });
});

describe('a body of another JSON type', () => {
  it.each(['application/merge-patch+json', 'application/ld+json', 'application/json; charset=utf-8'])(
    'is read: %s',
    async (type) => {
      const { userId } = gateway.addUser('ada', { is_admin: true });
      const answer = await gateway.call('PATCH', `/users/${userId}`, {
        token: admin.token,
        headers: { 'Content-Type': type },
        body: '{"is_admin":false}',
      });
      expect(answer.status).toBe(200);
      expect((await gateway.adapters.users.get(userId))?.is_admin).toBe(false);
    },
  );
});
