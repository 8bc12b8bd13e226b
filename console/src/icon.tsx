const PATHS = {
  messages: 'M4 6h16M4 12h16M4 18h10',
  chat: 'M4 5h16v11H9l-5 4z',
  send: 'M4 12 20 4l-5 16-3-7z',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14m5 12 4 4',
  close: 'M6 6l12 12M18 6 6 18',
  out: 'M7 17 17 7M9 7h8v8',
  in: 'M17 7 7 17M15 17H7V9',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  phone: 'M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1m3 15h2',
  book: 'M5 4h10a4 4 0 0 1 4 4v12H9a4 4 0 0 1-4-4z',
  key: 'M8 12a4 4 0 1 0 0 .010M12 12h9m-3 0v4',
  down: 'M12 4v11m-5-5 5 5 5-5M5 20h14',
  clock: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16m0 4v4l3 2',
  menu: 'M4 7h16M4 12h16M4 17h16',
  overview: 'M4 20V11M10 20V4M16 20v-6M21 20H3',
  usage: 'M4 5h16M4 10h16M4 15h16M4 20h16M10 5v15',
  webhook: 'M4 12h11m-4-4 4 4-4 4M19 5v14',
  number: 'M5 4h4l2 5-3 2a12 12 0 0 0 5 5l2-3 5 2v4a1 1 0 0 1-1 1A16 16 0 0 1 4 5a1 1 0 0 1 1-1',
  template: 'M4 4h16v6H4zM4 14h9v6H4zM17 14h3v6h-3z',
  file: 'M6 3h8l4 4v14H6zM14 3v5h4',
  workspace: 'M4 20V8l8-4 8 4v12zM9 20v-6h6v6',
  people: 'M9 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M3 20a6 6 0 0 1 12 0M16 5.500a3 3 0 0 1 0 5M17.500 14.500A6 6 0 0 1 21 20',
  price: 'M4 6h16v12H4zM12 9v6M9 12h6',
  code: 'M5 11h14v10H5zM8 11V8a4 4 0 0 1 8 0v3',
  campaign: 'M4 10v4h3l9 5V5l-9 5zM19 9.500a4 4 0 0 1 0 5',
  plus: 'M12 5v14M5 12h14',
  check: 'M5 13l4 4L19 7',
  reply: 'M9 7 4 12l5 5M4 12h9a7 7 0 0 1 7 7',
  clip: 'M8 12l6-6a3 3 0 0 1 4 4l-8 8a5 5 0 0 1-7-7l8-8',
  smile: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M9 10h.010M15 10h.010M8.500 14a4 4 0 0 0 7 0',
} as const;
export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
