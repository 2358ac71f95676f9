import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { AppError } from '../../schemas/app-error.js';
import type { WebPage, WebSearch } from '../ports/chat.js';
import { openExchange, readJson } from '../models/servers/model-exchange.js';
import { stripInvisible } from '../text/invisible-characters.js';
import { isPublicUrl } from './address-guard.js';
import { firstCharacters } from '../text/sentences.js';

const TIMEOUT_MS = 5000;
const ANSWER_LIMITS = { wholeBytes: 4 * 1024 * 1024, streamBytes: 4 * 1024 * 1024, totalMs: 3 * TIMEOUT_MS };
/** Queries beyond this are refused by the provider. */
const MAX_QUERY_LENGTH = 400;
const MAX_SNIPPET_LENGTH = 4000;
const MAX_TITLE_LENGTH = 300;

const Page = z.object({
  url: z.string(),
  title: z.string().catch(''),
  snippet: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
});
const Pages = z.array(Page.nullable().catch(null));
/** Source: documentation of Staan's web search, api.staan.ai/v2; other providers that answer alike serve as well. */
const Answer = z.union([
  z.object({ web: z.object({ results: Pages }) }).transform(({ web }) => web.results),
  z.object({ results: Pages }).transform(({ results }) => results),
]);

/** What a page says of itself ends in a prompt and in links: plain text, and addresses of the open web only. */
function pageOf(found: z.output<typeof Page>): WebPage | null {
  const url = URL.parse(found.url);
  if (url === null || !/^https?:$/.test(url.protocol) || !isPublicUrl(url)) return null;
  const plain = (text: string): string =>
    stripInvisible(text)
      .replace(/<[^<>]{0,200}>/g, '')
      .replace(/\s+/g, ' ')
      .trim();
  const snippet = firstCharacters(plain(found.snippet ?? found.description ?? ''), MAX_SNIPPET_LENGTH);
  return { url: url.href, title: firstCharacters(plain(found.title), MAX_TITLE_LENGTH), snippet };
}

/** A web search provider. Pages themselves are not fetched: what the provider says of them is all there is. */
export function createWebSearch(
  dispatcher: Dispatcher,
  options: { baseUrl: string; token: string; topK: number; market: string },
): WebSearch {
  return {
    async search(query, signal) {
      const url = new URL(options.baseUrl);
      url.searchParams.set('q', firstCharacters(query.replace(/\s+/g, ' ').trim(), MAX_QUERY_LENGTH));
      url.searchParams.set('count', String(options.topK));
      url.searchParams.set('market', options.market);
      try {
        const answer = await openExchange({
          dispatcher,
          url: url.href,
          signal,
          timeoutMs: TIMEOUT_MS,
          limits: ANSWER_LIMITS,
          headers: { authorization: `Bearer ${options.token}`, accept: 'application/json' },
        });
        const pages = Answer.parse(await readJson(answer));
        return pages.flatMap((page) => (page === null ? [] : (pageOf(page) ?? []))).slice(0, options.topK);
      } catch (error) {
        signal.throwIfAborted();
        throw new AppError('SERVICE_UNAVAILABLE', 'The web search cannot be used.', { cause: error });
      }
    },
  };
}
