import type { RecordedRequest } from './behaviour.js';

type Content = string | { type: string; image_url?: { url: string } }[];

/** The pictures that a chat request carries, in either dialect, as the server gets them. */
export function shownPictures({ body }: Pick<RecordedRequest, 'body'>): Buffer[] {
  return (body['messages'] as { content: Content; images?: string[] }[]).flatMap(
    ({ content, images = [] }) => {
      const urls =
        typeof content === 'string' ? [] : content.flatMap(({ image_url: image }) => image?.url ?? []);
      return [...images, ...urls.map((url) => url.replace(/^data:image\/[a-z]+;base64,/, ''))].map((base64) =>
        Buffer.from(base64, 'base64'),
      );
    },
  );
}
