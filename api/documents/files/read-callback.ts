import { isPublicUrl } from '../../../activities/outbound/address-guard.js';
import { badRequest } from '../../http/request-issues.js';

export interface Callback {
  url: string;
  token: string | null;
}

const MAX_LENGTH = 4096;

/**
 * The form fields `callback_url` and `callback_token`; null when there is no address. What a name resolves to is
 * looked at when it is called.
 * @throws AppError BAD_REQUEST (400), plain
 */
export function readCallback(
  fields: Readonly<Record<string, string>>,
  allowPrivate: boolean,
): Callback | null {
  const text = fields['callback_url']?.trim() ?? '';
  if (text === '') return null;
  if (text.length > MAX_LENGTH || !URL.canParse(text)) throw badRequest('callback_url is not a valid URL');
  const url = new URL(text);
  const web = url.protocol === 'http:' || url.protocol === 'https:';
  if (!web || !(allowPrivate || isPublicUrl(url)))
    throw badRequest('callback_url must be a public http(s) URL');
  const token = fields['callback_token'] ?? '';
  // What would end the header, or is not Latin text, cannot be sent.
  if (token.length > MAX_LENGTH || !/^[\x21-\x7e]*$/.test(token))
    throw badRequest('callback_token is not a valid token');
  return { url: url.href, token: token === '' ? null : token };
}
