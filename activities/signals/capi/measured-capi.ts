import { capiAnswerOf } from '../../ports/meter.js';
import type { CapiAnswer, Meter } from '../../ports/meter.js';
import type { CapiClient, DeliveryResult } from '../../ports/capi.js';

const answerOf = (result: DeliveryResult): CapiAnswer =>
  'status' in result ? capiAnswerOf(result.status) : result.outcome;

/** The same client, with the answers of CAPI counted. */
export const measuredCapi = (client: CapiClient, meter: Pick<Meter, 'capiAnswered'>): CapiClient => ({
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
});
