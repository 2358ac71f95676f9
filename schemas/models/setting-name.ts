import { z } from 'zod';

/** Of a preset or a prompt. Alphanumeric at the start, so that a path and a person can tell where it begins. */
export const SettingName = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u, 'must be letters, digits, spaces, . _ -');
