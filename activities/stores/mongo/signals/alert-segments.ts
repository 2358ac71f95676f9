import { hourOf } from '../../../../schemas/signals/statistics.js';

/** So many consecutive alert ids are counted together: few enough to be read within some milliseconds. */
const SEGMENT_IDS = 1_000;
/** So many segments make a block, so that an hour of a million alerts is the sum of some thirty blocks. */
const BLOCK_SEGMENTS = 32;
/** A mark names no more: each of its segments is counted in each of its hours. */
const GROUP_SEGMENTS = 50;

function segmentOf(id: number): number {
  return Math.floor(id / SEGMENT_IDS);
}

export function blockOf(segment: number): number {
  return Math.floor(segment / BLOCK_SEGMENTS);
}

/** The ids of a segment: from `first` on, before `end`. */
export function idsOfSegment(segment: number): { first: number; end: number } {
  return {
    first: segment * SEGMENT_IDS,
    end: (segment + 1) * SEGMENT_IDS,
  };
}

/** The segment of an id, for an aggregation. */
export const SEGMENT_EXPRESSION = { $floor: { $divide: ['$_id', SEGMENT_IDS] } } as const;

/** Each segment that these ids are in, once. */
export function segmentsOf(ids: readonly number[]): number[] {
  return [...new Set(ids.map(segmentOf))];
}

/**
 * Cuts what a write touches into groups of so many segments at most, by id: neighbours were received in the same hours.
 */
export function groupBySegments<T>(items: readonly T[], idOf: (item: T) => number): T[][] {
  const groups: T[][] = [];
  let segments = new Set<number>();
  for (const item of [...items].sort((a, b) => idOf(a) - idOf(b))) {
    const segment = segmentOf(idOf(item));
    if (groups.length === 0 || (!segments.has(segment) && segments.size === GROUP_SEGMENTS)) {
      groups.push([]);
      segments = new Set();
    }
    segments.add(segment);
    groups.at(-1)!.push(item);
  }
  return groups;
}

/** Each hour that these times are in, once. */
export function hoursOf(times: readonly Date[]): Date[] {
  return [...new Set(times.map((time) => hourOf(time).getTime()))].map((hour) => new Date(hour));
}
