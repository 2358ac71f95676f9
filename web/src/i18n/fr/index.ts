import type { Messages } from '../messages';
import { ask } from './ask';
import { common } from './common';
import { documents } from './documents';
import { evaluation } from './evaluation';
import { operations } from './operations';
import { server } from './server';
import { signals } from './signals';

export const fr: Messages = { ask, common, documents, evaluation, operations, server, signals };
