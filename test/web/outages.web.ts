import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { startScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import { sampleSignal, signalClient } from '../support/signal-client.js';
import { until } from '../support/until.js';
import { dropFiles } from './support/drop-files.js';
import { openStage } from './support/open-stage.js';
import type { Stage } from './support/open-stage.js';

const PARTITION = 'harbour';
const WORDS = 1500;
const FILES = Array.from({ length: 24 }, (_, index) => ({
  name: `berth-${index + 1}.md`,
  content: `# Berth ${index + 1}\n\n${`The rope of berth ${index + 1} is checked every week. `.repeat(2000)}`,
}));

let models: ScriptedModelServer;
let stage: Stage;
beforeAll(async () => {
  models = await startScriptedModelServer({ msPerWord: 50, answer: () => 'rope '.repeat(WORDS) });
  stage = await openStage({
    LLM_PROVIDER: 'openai',
    BASE_URL: models.url,
    MODEL: models.models.llm,
    OLLAMA_HOST: '',
  });
});
afterAll(async () => {
  await stage?.close();
  await models?.close();
});

describe('a gateway that is killed while somebody chats, uploads and watches', () => {
  it('is said to be away, found again by the page, and loses no upload that it answered', async () => {
    const { stack, key } = stage;
    const documents = documentClient(stack);
    await stack.request(`/partition/${PARTITION}`, { method: 'POST' });
    await documents.ended(
      await documents.upload('POST', PARTITION, 'first', 'A rope was here before.', 'first.md'),
    );
    const lapi = signalClient(stack.base, 'watcher');
    await lapi.login();
    await lapi.push([sampleSignal(0)]);

    const visitor = await stage.visit('/chat', stack.token);
    const chat = visitor.page;
    await chat.getByRole('button', { name: /^Signed in as/ }).click();
    await chat.getByRole('menuitem', { name: 'Add access' }).click();
    await chat.getByLabel('Token or key').fill(key);
    await chat.getByRole('button', { name: 'Add', exact: true }).click();
    const [files, alerts] = [await chat.context().newPage(), await chat.context().newPage()];
    await alerts.goto(`${stack.base}/app/signals/alerts`);
    await alerts.getByText('1 alerts loaded').waitFor();
    await files.goto(`${stack.base}/app/partitions/${PARTITION}`);
    await files.getByText('1 of 1 files').waitFor();
    await chat.goto(`${stack.base}/app/chat`);

    await chat.getByRole('textbox', { name: 'Your question' }).fill('Which rope is checked?');
    await chat.keyboard.press('Enter');
    await chat.getByRole('article', { name: 'Answer' }).getByText('rope').waitFor();
    const answered: string[] = [];
    files.on('response', (response) => {
      if (response.status() === 201 && /\/indexer\/partition\//.test(response.url()))
        answered.push(decodeURIComponent(new URL(response.url()).pathname.split('/').at(-1) ?? ''));
    });
    await dropFiles(files, FILES);
    await until('some uploads are answered', async () => answered.length >= 4);
    await stack.killGateway();

    await chat.getByText('The server cannot be reached. This page tries again by itself.').waitFor();
    await chat.getByRole('article', { name: 'Answer' }).getByRole('alert').waitFor();
    await alerts.getByText('The server cannot be reached. This page tries again by itself.').waitFor();
    await files.getByText('waits for the server, and goes on by itself').first().waitFor();
    const before = [...answered];
    expect(before.length).toBeLessThan(FILES.length);

    models.models.msPerWord = 0;
    await stack.startGateway();
    for (const page of [chat, alerts])
      await page
        .getByText('The server cannot be reached. This page tries again by itself.')
        .waitFor({ state: 'detached' });
    await chat.getByRole('article', { name: 'Answer' }).getByRole('button', { name: 'Try again' }).click();
    await chat.getByRole('article', { name: 'Answer' }).getByRole('button', { name: 'Copy' }).waitFor();
    expect(await chat.getByRole('alert').count()).toBe(0);
    await lapi.push([sampleSignal(1)]);
    await alerts.getByRole('button', { name: 'Show 1 new alert' }).waitFor();

    const uploads = files.getByRole('region', { name: 'Uploads' });
    // without a click; one that was taken and whose answer was lost is followed by its task
    await until(
      'every upload is done',
      async () => (await uploads.getByText('done', { exact: true }).count()) === FILES.length,
      { withinMs: 180_000 },
    );
    await files.getByText(`${FILES.length + 1} of ${FILES.length + 1} files`).waitFor();
    for (const id of before)
      expect((await stack.request(`/partition/${PARTITION}/file/${id}`)).status).toBe(200);
    expect(visitor.faults).toEqual([]);
  });
});
