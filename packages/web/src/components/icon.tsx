// Icons as outlines in the colour of the text. Statuses differ in shape, not in colour alone.
import type { ReactNode } from "react";

const shapes = {
  agents: <path d="M3 4.5h10M3 8h10M3 11.5h6" />,
  inbox: <path d="M2.5 9.500h3l1 2h3l1-2h3M2.500 9.500 4 3.500h8l1.500 6v3.500h-11Z" />,
  menu: <path d="M2.5 4.500h11M2.500 8h11M2.500 11.500h11" />,
  lock: <path d="M4 7.500h8v6H4zM5.500 7.500V5.500a2.500 2.500 0 0 1 5 0v2" />,
  chart: <path d="M2.500 13.500h11M4.500 11V8M8 11V4M11.500 11V6.500" />,
  list: <path d="M5.500 4h8M5.500 8h8M5.500 12h8M2.500 4h.01M2.500 8h.01M2.500 12h.01" />,
  read: <path d="M2.500 6.500 8 2.500l5.500 4v7h-11zM2.500 6.500 8 10l5.500-3.500" />,
  unread: <path d="M2.500 4h8M13.500 7v6h-11V4L8 8.500l2-1.600M13 4.200h.01" />,
  retry: <path d="M13 8a5 5 0 1 1-1.500-3.500L13 6M13 2.500V6H9.500" />,
  play: <path d="M5 3.500v9l7.500-4.500Z" />,
  plus: <path d="M8 3.5v9M3.5 8h9" />,
  repository: <path d="M4 2.5h8.5v11H4.8A1.3 1.3 0 0 1 3.5 12.2V3.8A1.3 1.3 0 0 1 4.8 2.5M3.5 11.5h9" />,
  people: (
    <path d="M6 8a2.3 2.3 0 1 0 0-4.6A2.3 2.3 0 0 0 6 8Zm-4 5c.3-2.2 2-3.4 4-3.4s3.7 1.2 4 3.400M10.7 3.700a2.2 2.2 0 0 1 0 4.100M14 13c-.15-1.5-.9-2.6-2.2-3.1" />
  ),
  key: <path d="M9.5 6.500a3 3 0 1 0-2.1 2.100L9 10h1.500v1.500H12V13h1.500v-2.500l-4-4M5.5 5.500h.01" />,
  link: (
    <path d="M7 9a2.5 2.5 0 0 0 3.7.2l1.8-1.800a2.5 2.5 0 0 0-3.5-3.500L8 4.800M9 7a2.5 2.5 0 0 0-3.7-.2L3.5 8.600A2.5 2.5 0 0 0 7 12.100l1-.9" />
  ),
  settings: (
    <path d="M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6M10 6.800a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.600ZM6 12.800a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.600Z" />
  ),
  book: (
    <path d="M8 4.500C6.5 3.3 4.5 3 2.5 3.200v9.300c2-.2 4 .1 5.5 1.3 1.5-1.2 3.5-1.5 5.5-1.300V3.200c-2-.2-4 .1-5.5 1.300Zm0 0v9.3" />
  ),
  search: <path d="M7 11.500a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.500l3 3" />,
  branch: (
    <path d="M4.5 5.500v5M4.5 5.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm0 8a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm7-7a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm0 0c0 2.5-2 3-4 3.5" />
  ),
  pull: (
    <path d="M4.5 5.500v5M4.5 5.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm0 8a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm7 0a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm0-3V6a1.5 1.5 0 0 0-1.5-1.500H8M9.5 3 8 4.5 9.5 6" />
  ),
  chevron: <path d="m6 4 4 4-4 4" />,
  down: <path d="M8 3v10M4 9l4 4 4-4" />,
  terminal: <path d="m3.5 5 3 3-3 3M8.5 11.500h4" />,
  edit: <path d="M3 13h2l7.5-7.5-2-2L3 11v2Z" />,
  folder: <path d="M2 4.500h4l1.500 1.500H14v7H2z" />,
  file: <path d="M4 2.500h5l3 3v8H4v-11ZM9 2.500v3h3" />,
  brain: (
    <path d="M8 3a2.5 2.5 0 0 0-4.5 1.500A2.5 2.5 0 0 0 3 9a2.5 2.5 0 0 0 5 1.500V3Zm0 0a2.5 2.5 0 0 1 4.5 1.500A2.5 2.5 0 0 1 13 9a2.5 2.5 0 0 1-5 1.5" />
  ),
  stop: <rect x="4" y="4" width="8" height="8" rx="1" />,
  send: <path d="M8 13V3M4 7l4-4 4 4" />,
  archive: <path d="M2.5 3.500h11v3h-11zM3.5 6.500v6.500h9V6.500M6.5 9h3" />,
  more: <path d="M4 8h.01M8 8h.01M12 8h.01" strokeWidth="2" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  check: <path d="m3.5 8.5 3 3 6-7" />,
  code: <path d="M6 4.500 2.500 8 6 11.500M10 4.500 13.500 8 10 11.500" />,
  commit: <path d="M1.500 8h3.500M11 8h3.500M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z" />,
  copy: <path d="M5.5 5.500h7v7h-7zM10.5 5.500v-2h-7v7h2" />,
  image: <path d="M2.5 3.500h11v9h-11zM2.5 11l3-3 2.5 2.5 2-2 3.5 3.500M10 6.500h.01" />,
  warning: <path d="M8 2.5 14 13H2L8 2.500ZM8 6.500V9M8 11h.01" />,
  exit: <path d="M6.5 3h-3v10h3M7 8h6M10.5 5.5 13 8l-2.5 2.5" />,
  tool: <path d="M10 3a3 3 0 0 0-2.7 4.300L3 11.6 4.4 13l4.3-4.300A3 3 0 0 0 13 6l-1.8 1.8-1.5-.500-.500-1.500L11 4" />,
  hook: <path d="M11 2.500v7a3.250 3.250 0 0 1-6.500 0V8L3 9.500M4.500 8 6 9.500" />,
  blocked: <path d="M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM3.800 3.800l8.400 8.400" />,
  decision: (
    <path d="M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.2 6.3a1.8 1.8 0 1 1 2.700 1.500Q8 8.400 8 9.300M8 11.300h.01" />
  ),
  clock: <path d="M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.500V8l2.5 1.5" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof shapes;

export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg
    className="icon"
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.4"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {shapes[name]}
  </svg>
);
