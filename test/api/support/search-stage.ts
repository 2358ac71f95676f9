import { afterEach } from '@jest/globals';
import { askJson } from './ask-json.js';
import type { LooseBody } from './loose-body.js';
import { startGateway } from './start-gateway.js';
import type { GatewayOptions } from './start-gateway.js';

/** Gateways that end with the test that started them, each with a user named Ada. */
export function searchStage() {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return {
    /** Something else that ends with the test, after the gateway. */
    closes: (close: () => Promise<void>): void => void closing.push(close),
    async start(options: GatewayOptions = {}) {
      const gateway = await startGateway(options);
      closing.push(() => gateway.close());
      const ada = gateway.addUser('ada');
      const ask = (path: string, token = ada.token): Promise<[number, LooseBody]> =>
        askJson(gateway, 'GET', path, { token });
      return { gateway, ada, ask };
    },
  };
}

export function contentsOf(body: LooseBody): string[] {
  return body.documents.map(({ content }: LooseBody) => content);
}
