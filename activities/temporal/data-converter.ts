import {
  DefaultFailureConverter,
  defaultFailureConverter,
  defaultPayloadConverter,
} from '@temporalio/common';
import type { FailureConverter, PayloadCodec, PayloadConverter } from '@temporalio/common';
import type { Config } from '../../schemas/config/config.js';
import { createPayloadCodec } from './payload-codec.js';

/** As the SDK has one once it is loaded. */
interface LoadedConverter {
  payloadConverter: PayloadConverter;
  failureConverter: FailureConverter;
  payloadCodecs: PayloadCodec[];
}

type Keys = Pick<Config, 'secretsKey' | 'formerSecretsKeys'> & {
  temporal: Pick<Config['temporal'], 'encryptPayloads'>;
};

/** The codec of these keys; it reads what is encrypted also where nothing is encrypted any more. */
export function payloadCodecOf({ secretsKey, formerSecretsKeys, temporal }: Keys): PayloadCodec {
  const secrets = (secretsKey === null ? [] : [secretsKey, ...formerSecretsKeys]).map((text) =>
    Buffer.from(text, 'base64'),
  );
  return createPayloadCodec(secrets, temporal.encryptPayloads);
}

/**
 * How clients and workers write and read what Temporal keeps. Where it is encrypted the messages and traces of failures
 * are too; `workflows/encrypted-failures.ts` is the same for what a workflow throws itself.
 */
export function temporalDataConverter(config: Keys): LoadedConverter {
  return {
    payloadConverter: defaultPayloadConverter,
    failureConverter: config.temporal.encryptPayloads
      ? new DefaultFailureConverter({ encodeCommonAttributes: true })
      : defaultFailureConverter,
    payloadCodecs: [payloadCodecOf(config)],
  };
}
