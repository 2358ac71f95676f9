import { Alert } from '../../../schemas/signals/proxy-api.js';
import type { Alert as AlertRecord } from '../../../schemas/signals/signals.js';

const FIELDS = Object.keys(Alert.shape) as (keyof AlertRecord)[];

/** The agreed 41 fields, always all of them and nothing else. */
export const presentAlert = (alert: AlertRecord): Record<string, unknown> =>
  Object.fromEntries(FIELDS.map((name) => [name, alert[name] ?? null]));
