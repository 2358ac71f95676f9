import type { Messages } from '../messages';
import { common } from './common';
import { documents } from './documents';

export const fr: Messages = { common, documents };
