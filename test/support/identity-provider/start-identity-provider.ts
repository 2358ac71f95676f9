import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';
import { endServer } from '../loopback-server.js';

const CLIENT_ID = 'tamis';
const CLIENT_SECRET = 'a-client-secret-of-tests-0123456789';

interface Person {
  name: string;
  groups: string[];
}

export type IdentityProviderServer = Awaited<ReturnType<typeof startIdentityProvider>>;

/**
 * A real OpenID provider on loopback. Whoever comes is signed in without a page to fill in, as `signInAs` said last.
 */
export async function startIdentityProvider(port = 0) {
  const people = new Map<string, Person>();
  let subject = 'ada';
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: 'test', use: 'sig', alg: 'RS256' };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gateways: string[] = [];
  const open = (): Provider => {
    const provider: Provider = new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: gateways.map((url) => `${url}/auth/callback`),
          post_logout_redirect_uris: gateways.map((url) => `${url}/app/`),
          grant_types: ['authorization_code'],
          response_types: ['code'],
          // For the claim `sid`; what the provider would send is sent by the tests.
          backchannel_logout_uri: `${issuer}/nowhere`,
          backchannel_logout_session_required: true,
        },
      ],
      jwks: { keys: [jwk] },
      claims: { openid: ['sub'], profile: ['name', 'groups'] },
      features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
      findAccount: (_ctx, id) => ({
        accountId: id,
        claims: () => ({ sub: id, ...people.get(id) }),
      }),
      interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
      cookies: { keys: ['test'] },
      async loadExistingGrant(ctx) {
        const { client, session } = ctx.oidc;
        const grant = new provider.Grant({ clientId: client!.clientId, accountId: session!.accountId! });
        grant.addOIDCScope('openid profile email');
        await grant.save();
        return grant;
      },
    });
    return provider;
  };
  let provider: Provider | undefined;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    provider ??= open();
    if (request.url?.startsWith('/interaction/') === true)
      await provider.interactionFinished(request, response, { login: { accountId: subject } });
    else await provider.callback()(request, response);
  };

  const claims = { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } };
  return {
    issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    /** A gateway that people may be led back to; what the provider knew is forgotten. */
    allow(gateway: string): void {
      gateways.push(gateway);
      provider = undefined;
    },
    signInAs(id: string, person: Person): void {
      subject = id;
      people.set(id, person);
    },
    /** As the provider would send it, but for what a test changes. */
    logoutToken(of: { sub?: string; sid?: string }, changes: Record<string, unknown> = {}, key = privateKey) {
      return new SignJWT({ iss: issuer, aud: CLIENT_ID, jti: 'one', ...claims, ...of, ...changes })
        .setProtectedHeader({ alg: 'RS256', kid: 'test', typ: 'logout+jwt' })
        .setIssuedAt()
        .sign(key);
    },
    close: () => endServer(server),
  };
}

/** Follows redirects within the provider as a browser does, with its cookies; answers where it leads back to. */
export async function passThroughProvider(start: string, issuer: string): Promise<string> {
  const jar = new Map<string, string>();
  let url = start;
  for (let step = 0; step < 10 && url.startsWith(issuer); step += 1) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { Cookie: cookie, Accept: 'text/html' },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${response.status} at ${url}: ${await response.text()}`);
    url = new URL(location, url).href;
  }
  return url;
}
