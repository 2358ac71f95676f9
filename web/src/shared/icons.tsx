const PATHS = {
  folder: 'M3 6a2 2 0 0 1 2-2h4l2 2h8a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm5.2 12.2L21 21',
  chat: 'M4 5h16v11H9l-5 4z',
  tasks: 'M4 6l2 2 3-3M4 13l2 2 3-3M12 7h8M12 14h8M12 20h8',
  gauge: 'M4 18a9 9 0 1 1 16 0M12 14l4-5',
  archive: 'M4 5h16v4H4zM6 9v10h12V9M10 13h4',
  thumbUp: 'M7 11v9H4v-9zM7 11l4-8c2 0 3 1 3 3v3h5l-1.500 9c-.2 1-1 2-2 2H7',
  thumbDown: 'M7 13V4H4v9zM7 13l4 8c2 0 3-1 3-3v-3h5l-1.500-9c-.2-1-1-2-2-2H7',
  pulse: 'M3 12h4l3-8 4 16 3-8h4',
  list: 'M4 6h16M4 12h16M4 18h10',
  filter: 'M3 5h18l-7 9v5l-4 2v-7z',
  forward: 'M4 12h15M13 6l6 6-6 6',
  state: 'M12 3l8 4v5c0 5-3.5 8-8 9-4.5-1-8-4-8-9V7zM9 12l2 2 4-4',
  model: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5',
  users:
    'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21c0-4 3-7 7-7s7 3 7 7M16 4a4 4 0 0 1 0 7M18 14c2.500 1 4 3.500 4 7',
  moon: 'M20 14A8.500 8.500 0 0 1 10 4a8.500 8.500 0 1 0 10 10z',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4.500 3.500-7 8-7s8 2.500 8 7',
} as const;

export type IconName = keyof typeof PATHS;

/** Ornament beside a text or a label: hidden from screen readers. */
export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
  return (
    <svg
      {...{ width: size, height: size, viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor' }}
      {...{ strokeWidth: name === 'more' ? 3 : 1.8, strokeLinecap: 'round', strokeLinejoin: 'round' }}
      aria-hidden
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
