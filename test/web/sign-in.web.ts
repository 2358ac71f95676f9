import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { askStack } from '../support/ask-stack.js';
import { documentClient } from '../support/document-client.js';
import { startIdentityProvider } from '../support/identity-provider/start-identity-provider.js';
import type { IdentityProviderServer } from '../support/identity-provider/start-identity-provider.js';
import { openStage } from './support/open-stage.js';
import type { Stage, Visitor } from './support/open-stage.js';

let provider: IdentityProviderServer;
let stage: Stage;
beforeAll(async () => {
  provider = await startIdentityProvider();
  stage = await openStage({
    AUTH_MODE: 'oidc',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    OIDC_ADMIN_GROUPS: 'operators',
  });
  provider.allow(stage.stack.base);
});
afterAll(async () => {
  await stage?.close();
  await provider?.close();
});

/** Opens the page of the tasks without a session, and goes by the provider. */
async function signIn(id: string, name: string, groups: string[]): Promise<Visitor> {
  provider.signInAs(id, { name, groups });
  const visitor = await stage.visit('/tasks');
  const { page } = visitor;
  await page.getByRole('link', { name: 'Sign in with your organisation' }).click();
  await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
  await page.getByRole('button', { name: `Signed in as ${name}` }).waitFor();
  return visitor;
}

describe('an identity provider, in the browser', () => {
  it('lets people in where they wanted to go, with what their group may, until it says that they left', async () => {
    const ada = await signIn('ada', 'Ada of the ferry', ['operators']);
    const bob = await signIn('bob', 'Bob of the mill', ['guests']);
    const users = ({ page }: Visitor) =>
      page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Users' });
    await users(ada).waitFor();
    expect(await users(bob).count()).toBe(0);

    const ended = await stage.stack.request('/auth/backchannel-logout', {
      method: 'POST',
      body: new URLSearchParams({ logout_token: await provider.logoutToken({ sub: 'ada' }) }),
    });
    expect(ended.status).toBe(200);
    await ada.page.getByRole('link', { name: 'Backups' }).click();
    await ada.page.getByRole('link', { name: 'Sign in with your organisation' }).waitFor();
    await bob.page.getByRole('link', { name: 'Partitions' }).click();
    await bob.page.getByText('You have no partition yet').waitFor();
    for (const { faults, close } of [ada, bob]) {
      expect(faults.filter((fault) => !fault.startsWith(`asked elsewhere: ${provider.issuer}/`))).toEqual([]);
      await close();
    }
  });

  it('signs out at the provider too, so that somebody else may sign in from the same browser', async () => {
    const { page, close } = await signIn('ada', 'Ada of the ferry', ['operators']);
    await page.getByRole('button', { name: /^Signed in as/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL((url) => url.origin === provider.issuer);
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.waitForURL(`${stage.stack.base}/app/**`);
    provider.signInAs('bob', { name: 'Bob of the mill', groups: ['guests'] });
    await page.getByRole('link', { name: 'Sign in with your organisation' }).click();
    await page.getByRole('button', { name: 'Signed in as Bob of the mill' }).waitFor();
    await close();
  });

  it('leads back to a search with the letters that were asked for', async () => {
    provider.signInAs('ada', { name: 'Ada of the ferry', groups: [] });
    const asked = 'q=%C3%A9t%C3%A9&filter=title+like+%22%25facture%25%22';
    const { page, close } = await stage.visit(`/search?${asked}`);
    await page.getByRole('link', { name: 'Sign in with your organisation' }).click();
    await page.getByRole('button', { name: 'Signed in as Ada of the ferry' }).waitFor();
    await page.waitForURL(`${stage.stack.base}/app/search?${asked}`);
    await close();
  });

  it('keeps nobody out who has a token', async () => {
    const { page, faults, close } = await stage.visit('/', stage.stack.token);
    await page.getByRole('heading', { level: 1, name: 'Partitions' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  it('deletes before it signs out what was said to be deleted', async () => {
    const documents = documentClient(stage.stack);
    await stage.stack.request('/partition/quay', { method: 'POST' });
    await documents.ended(
      await documents.upload('POST', 'quay', 'contract.md', 'A boat for a year.', 'contract.md'),
    );
    const { page, faults, close } = await stage.visit('/partitions/quay', stage.stack.token);
    await page.getByRole('button', { name: 'Actions: contract.md' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    await page.getByRole('button', { name: /^Signed in as/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Token or key').waitFor();
    expect((await stage.stack.request('/partition/quay/file/contract.md')).status).toBe(404);
    expect(faults).toEqual([]);
    await close();
  });

  it('tells the other windows of a browser when somebody else signs in', async () => {
    const tokens: string[] = [];
    for (const name of ['Ada', 'Bob']) {
      const user = { display_name: `${name} of the office`, is_admin: true };
      const { body } = await askStack<{ token: string }>(stage.stack, 'POST', '/users/', user);
      tokens.push(body.token);
    }
    const [ada = '', bob = ''] = tokens;
    // a page that asks for nothing by itself
    const { page: first, faults, close } = await stage.visit('/users', ada);
    await first.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
    const second = await first.context().newPage();
    await second.goto(`${stage.stack.base}/app/users`);
    await second.getByRole('button', { name: 'Signed in as Ada of the office' }).click();
    await second.getByRole('menuitem', { name: 'Sign out' }).click();
    await first.getByLabel('Token or key').waitFor();
    await second.getByLabel('Token or key').fill(bob);
    await second.getByRole('button', { name: 'Sign in', exact: true }).click();
    await second.getByRole('button', { name: 'Signed in as Bob of the office' }).waitFor();
    await first.getByRole('button', { name: 'Signed in as Bob of the office' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });
});
