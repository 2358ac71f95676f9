import { capiAnswerOf } from '../../ports/meter.js';
import type { CapiAnswer, Meter } from '../../ports/meter.js';
import type { CapiClient, DeliveryResult } from '../../ports/capi.js';

function answerOf(result: DeliveryResult): CapiAnswer {
  return 'status' in result ? capiAnswerOf(result.status) : result.outcome;
}

/** The same client, with the answers of CAPI counted. */
export function measuredCapi(client: CapiClient, meter: Pick<Meter, 'capiAnswered'>): CapiClient {
  return {
    async sendSignals(...call) {
      const result = await client.sendSignals(...call);
      meter.capiAnswered('signals', answerOf(result));
      return result;
    },
    async sendMetrics(...call) {
      const result = await client.sendMetrics(...call);
      meter.capiAnswered('metrics', answerOf(result));
      return result;
    },
  };
}
