import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { AppError } from '../../schemas/app-error.js';
import type { Config } from '../../schemas/config/config.js';

type Settings = NonNullable<Config['auth']['oidc']>;

/** What has to be there again when the provider sends the browser back. */
export interface SignInAttempt {
  state: string;
  nonce: string;
  verifier: string;
}

/** Whom the provider vouches for. */
export interface Identity {
  subject: string;
  /** The session there; null: it tells none. */
  sid: string | null;
  name: string | null;
  groups: readonly string[];
}

export interface IdentityProvider {
  /** Where the browser is sent to. @throws AppError SERVICE_UNAVAILABLE */
  begin(redirectUri: string): Promise<{ url: string; attempt: SignInAttempt }>;
  /**
   * @param callback the address that the browser came back with
   * @throws AppError AUTHENTICATION_ERROR, SERVICE_UNAVAILABLE
   */
  finish(callback: URL, attempt: SignInAttempt): Promise<Identity>;
  /** Where the session there is ended; null: the provider offers none. @throws AppError SERVICE_UNAVAILABLE */
  logoutUrl(backTo: string): Promise<string | null>;
  /** What a logout token ends. @throws AppError BAD_REQUEST, SERVICE_UNAVAILABLE */
  readLogoutToken(token: string): Promise<{ sid: string } | { subject: string }>;
  /** Rejects with one sentence when it cannot be reached. */
  check(): Promise<void>;
}

const TIMEOUT_S = 5;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** A logout token is made for the moment; clocks differ. */
const LOGOUT_MAX_AGE = '10 minutes';

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

/** What the provider itself says is wrong with a sign-in; everything else means that it cannot be asked. */
function isRefusal(error: unknown): boolean {
  if (error instanceof oidc.AuthorizationResponseError) return true;
  if (error instanceof oidc.ResponseBodyError) return error.status < 500;
  return error instanceof oidc.ClientError && error.code !== 'OAUTH_TIMEOUT' && !isUnreached(error.cause);
}

function isUnreached(cause: unknown): boolean {
  return cause instanceof TypeError || (cause instanceof Error && cause.name === 'TimeoutError');
}

export function createIdentityProvider(settings: Settings): IdentityProvider {
  const { issuer, clientId, clientSecret } = settings;

  const away = (cause: unknown): AppError =>
    new AppError(
      'SERVICE_UNAVAILABLE',
      `OIDC_ISSUER: the identity provider at ${issuer} cannot be reached or used; sign in with a token, or try again later`,
      { plain: true, cause },
    );
  const refused = (cause: unknown): AppError =>
    new AppError('AUTHENTICATION_ERROR', 'The sign-in was refused, or took too long: begin again', {
      plain: true,
      cause,
    });

  let known: Promise<oidc.Configuration> | undefined;
  let keys: ReturnType<typeof createRemoteJWKSet> | undefined;
  /** Asked once; one that was away is asked again. */
  const discover = (): Promise<oidc.Configuration> => {
    known ??= oidc
      .discovery(
        new URL(issuer),
        clientId,
        undefined,
        clientSecret === null ? oidc.None() : oidc.ClientSecretBasic(clientSecret),
        {
          timeout: TIMEOUT_S,
          execute: [
            // Who may speak for the provider is not left to the network alone.
            oidc.enableNonRepudiationChecks,
            // Deprecated to make it stand out; the configuration allows it on loopback alone.
            // eslint-disable-next-line @typescript-eslint/no-deprecated
            ...(issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : []),
          ],
        },
      )
      .catch((error: unknown) => {
        known = undefined;
        throw away(error);
      });
    return known;
  };

  /** Some providers put into the ID token what they are asked for, others into the user info alone. */
  const claimsOf = async (
    configuration: oidc.Configuration,
    tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers,
  ): Promise<Record<string, unknown>> => {
    const claims = tokens.claims();
    if (claims === undefined) throw refused(undefined);
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    const info = await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub);
    return { ...info, ...claims };
  };

  return {
    async begin(redirectUri) {
      const configuration = await discover();
      const attempt = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, attempt };
    },
    async finish(callback, { state, nonce, verifier }) {
      const configuration = await discover();
      try {
        const tokens = await oidc.authorizationCodeGrant(configuration, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = await claimsOf(configuration, tokens);
        const groups = [claims[settings.groupsClaim] ?? []].flat();
        return {
          subject: String(claims['sub']),
          sid: textOf(claims['sid']),
          name: textOf(claims['name']) ?? textOf(claims['preferred_username']) ?? textOf(claims['email']),
          groups: groups.filter((group) => typeof group === 'string'),
        };
      } catch (error) {
        if (error instanceof AppError) throw error;
        throw isRefusal(error) ? refused(error) : away(error);
      }
    },
    async logoutUrl(backTo) {
      const configuration = await discover();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
      return oidc.buildEndSessionUrl(configuration, { post_logout_redirect_uri: backTo }).href;
    },
    async readLogoutToken(token) {
      const { jwks_uri: jwks } = (await discover()).serverMetadata();
      keys ??= createRemoteJWKSet(new URL(jwks ?? ''), { timeoutDuration: TIMEOUT_S * 1000 });
      const invalid = (cause?: unknown): AppError =>
        new AppError('BAD_REQUEST', 'This is no logout token of the identity provider', {
          plain: true,
          cause,
        });
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: clientId,
        maxTokenAge: LOGOUT_MAX_AGE,
        clockTolerance: 30,
      }).catch((error: unknown) => {
        throw error instanceof errors.JOSEError && error.code !== 'ERR_JWKS_TIMEOUT'
          ? invalid(error)
          : away(error);
      });
      const events = payload['events'] as Record<string, unknown> | undefined;
      // With a nonce it would be an ID token, which others may have.
      if (events?.[LOGOUT_EVENT] === undefined || payload['nonce'] !== undefined) throw invalid();
      const sid = textOf(payload['sid']);
      if (sid !== null) return { sid };
      if (payload.sub === undefined) throw invalid();
      return { subject: payload.sub };
    },
    async check() {
      // Its discovery document is known for as long as we run: that it is there now is asked anew.
      const { href } = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
      const answer = await fetch(href, { signal: AbortSignal.timeout(TIMEOUT_S * 1000) }).catch(
        (error: unknown) => {
          throw away(error);
        },
      );
      await answer.body?.cancel();
      if (!answer.ok) throw away(new Error(`status ${answer.status}`));
    },
  };
}
