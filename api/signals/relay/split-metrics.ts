import { parse, stringify } from 'lossless-json';

/** CAPI refuses bodies over about 10 MiB after decompression (proxy spec, 4.5). */
export const METRICS_PART_BYTES = 9 * 1024 * 1024;

/** The lists of components in usage metrics (proxy spec, 6.2). */
const COMPONENTS = ['remediation_components', 'log_processors'] as const;

type Fields = Record<string, unknown>;

/**
 * Cuts usage metrics that are too large for CAPI in halves, by component, until each part fits. Every component is in
 * one part, with its numbers as they were written; what is not a component is in the first part only, so that nothing
 * counts twice, but for `lapi`, which says where the components belong. A single component is never cut: CAPI decides
 * on it.
 * @returns the parts in order; the text itself when it fits, or cannot be cut
 */
export const splitMetrics = (text: string, limit = METRICS_PART_BYTES): string[] => {
  if (Buffer.byteLength(text) <= limit) return [text];
  const whole = parse(text);
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return [text];
  const fields = whole as Fields;
  const items = COMPONENTS.flatMap((name) =>
    Array.isArray(fields[name]) ? (fields[name] as unknown[]).map((item) => ({ name, item })) : [],
  );
  const render = (part: typeof items, first: boolean): string => {
    const lists = Object.fromEntries(
      COMPONENTS.filter((name) => Array.isArray(fields[name])).map((name) => [
        name,
        part.filter((entry) => entry.name === name).map(({ item }) => item),
      ]),
    );
    const lapi = fields['lapi'];
    const quiet =
      typeof lapi === 'object' && lapi !== null && !Array.isArray(lapi)
        ? { lapi: { ...lapi, metrics: [] } }
        : {};
    return stringify(first ? { ...fields, ...lists } : { ...quiet, ...lists }) ?? '';
  };
  const cut = (part: typeof items, first: boolean): string[] => {
    const rendered = render(part, first);
    if (part.length < 2 || Buffer.byteLength(rendered) <= limit) return [rendered];
    const middle = Math.ceil(part.length / 2);
    return [...cut(part.slice(0, middle), first), ...cut(part.slice(middle), false)];
  };
  return items.length < 2 ? [text] : cut(items, true);
};
