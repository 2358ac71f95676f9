import { hourOf } from '../../../../schemas/signals/statistics.js';

/** So many consecutive alert ids are counted together: few enough to be read within some milliseconds. */
const SEGMENT_IDS = 1_000;
/** So many segments make a block, so that an hour of a million alerts is the sum of some thirty blocks. */
const BLOCK_SEGMENTS = 32;

const segmentOf = (id: number): number => Math.floor(id / SEGMENT_IDS);

export const blockOf = (segment: number): number => Math.floor(segment / BLOCK_SEGMENTS);

/** The ids of a segment: from `first` on, before `end`. */
export const idsOfSegment = (segment: number): { first: number; end: number } => ({
  first: segment * SEGMENT_IDS,
  end: (segment + 1) * SEGMENT_IDS,
});

/** The segment of an id, for an aggregation. */
export const SEGMENT_EXPRESSION = { $floor: { $divide: ['$_id', SEGMENT_IDS] } } as const;

/** Each segment that these ids are in, once. */
export const segmentsOf = (ids: readonly number[]): number[] => [...new Set(ids.map(segmentOf))];

/** Each hour that these times are in, once. */
export const hoursOf = (times: readonly Date[]): Date[] =>
  [...new Set(times.map((time) => hourOf(time).getTime()))].map((hour) => new Date(hour));
