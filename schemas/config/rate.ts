/** So many of something in a fixed window of time. */
export interface Rate {
  readonly points: number;
  readonly seconds: number;
}

const UNIT_SECONDS = { second: 1, minute: 60, hour: 3600, day: 86_400 } as const;

const RATE = /^(\d{1,9})\s*(?:\/|per\s)\s*(?:(\d{1,4})\s*)?(second|minute|hour|day)s?$/i;

/** `600/minute`, `5 per 10 seconds`: the form that the peer service's settings have. Null: not a rate. */
export function parseRate(text: string): Rate | null {
  const match = RATE.exec(text.trim());
  if (match === null) return null;
  const [, points = '', times = '1', unit = ''] = match;
  const rate = {
    points: Number(points),
    seconds: Number(times) * UNIT_SECONDS[unit.toLowerCase() as keyof typeof UNIT_SECONDS],
  };
  return rate.points > 0 && rate.seconds > 0 ? rate : null;
}
