import { demoClient } from './demo-client.js';
import { demoDocuments } from './demo-documents.js';
import { demoSignals } from './demo-signals.js';
import type { DemoStage } from './demo-client.js';

/** Shows both main jobs on the running stack; throws when a step does not do what it should. */
export async function runDemo(stage: DemoStage): Promise<void> {
  const { gateway, endpoints, print } = stage;
  await demoDocuments(demoClient(stage), stage);
  await demoSignals({ ...stage, gateway: endpoints.proxy ?? gateway });
  print(`
What runs now
  Gateway      ${gateway}
  Console      ${gateway}/app/  (sign in with auth_token, or with dashboard_key for the signals, or with both)
  API page     ${gateway}/docs  (every request above, to try out; press Authorize first)
  Token        in .local/endpoints.json: auth_token for documents, dashboard_key (X-Api-Key) under /api
  Temporal UI  ${endpoints.temporal_ui ?? 'not provided here'}`);
  if (endpoints.temporal_ui !== null)
    print(`               each upload is one workflow "index-document/…": open one and look at its steps, or ask
               it "taskStatus" under Queries; "clean-document/…" removed the replaced version;
               "upkeep-documents", always open, starts whatever was admitted while Temporal was away`);
}
