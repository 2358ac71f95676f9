import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { StandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { openCutLine } from './cut-line.js';
import type { CutLine } from './cut-line.js';
import { openStack } from './running-stack.js';
import type { RunningStack } from './running-stack.js';

/** A stack whose lines to MongoDB and Temporal can be cut, in front of a stand-in of the central API. */
export async function openLossStage(): Promise<{
  stack: RunningStack;
  standIn: StandInCapi;
  lines: { temporal: CutLine; mongo: CutLine };
  close(): Promise<void>;
}> {
  const standIn = await createStandInCapi();
  const mongoUrl = new URL(process.env['MONGODB_URL']!);
  const lines = {
    temporal: await openCutLine(process.env['TEMPORAL_ADDRESS']!),
    mongo: await openCutLine(mongoUrl.host),
  };
  const stack = await openStack({
    CAPI_URL: standIn.url,
    PROXY_TIMEOUT_MS: '1500',
    WORKER_NICENESS: '10',
    TEMPORAL_ADDRESS: lines.temporal.address,
    MONGODB_URL: `mongodb://${lines.mongo.address}${mongoUrl.pathname}${mongoUrl.search}`,
  });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  return {
    stack,
    standIn,
    lines,
    async close() {
      await lines.mongo.restore();
      await lines.temporal.restore();
      await stack.close();
      await lines.mongo.close();
      await lines.temporal.close();
      await standIn.close();
    },
  };
}
