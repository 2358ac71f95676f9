import { randomUUID } from 'node:crypto';
import { signalFields } from '../../../activities/signals/reading/signal-fields.js';
import { countDecisions } from '../../../activities/signals/reading/count-decisions.js';
import type { NewAlert } from '../../../schemas/signals/signals.js';

/** A signal as a LAPI of 1.5 or later sends it. */
export function sampleSignal(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    uuid: randomUUID(),
    machine_id: 'agent-1',
    scenario: 'crowdsecurity/ssh-bf',
    message: 'ssh brute force',
    source: { scope: 'Ip', value: '203.0.113.7', ip: '203.0.113.7', cn: 'FR' },
    ...overrides,
  };
}

/** An alert that waits to be sent, made of a signal. */
export function sampleAlert(
  overrides: Partial<NewAlert> & { signal?: Record<string, unknown> } = {},
): NewAlert {
  const { signal = sampleSignal(), ...rest } = overrides;
  return {
    identity: `uuid:${String(signal['uuid'])}`,
    watcher: 'watcher-1',
    version: 'v3',
    state: 'waiting',
    reasons: [],
    raw: JSON.stringify(signal),
    fields: signalFields(signal),
    decisions: countDecisions(signal),
    receivedAt: new Date('2026-03-01T12:00:00.000Z'),
    ...rest,
  };
}
