// The status of a run: a shape, a colour and a word.
import { outcomeWords, type RunStatus } from "@agentcli/protocol/outcomes";
import type { ReactNode } from "react";

export const wordOf = (status: RunStatus): string => outcomeWords[status];

const shapes: Record<RunStatus, ReactNode> = {
  CREATING: <circle cx="8" cy="8" r="5.5" strokeDasharray="2 2.3" />,
  RUNNING: (
    <>
      <circle cx="8" cy="8" r="5.5" opacity=".25" />
      <path className="spin" d="M8 2.500a5.5 5.5 0 0 1 5.5 5.5" />
    </>
  ),
  FINISHED: (
    <>
      <circle cx="8" cy="8" r="6" fill="currentColor" stroke="none" />
      <path d="m5.5 8.2 1.8 1.8 3.3-3.8" stroke="var(--bg)" />
    </>
  ),
  ERROR: (
    <>
      <path d="M8 1.8 14.5 13.500h-13Z" fill="currentColor" stroke="currentColor" />
      <path d="M8 6.200v3M8 11.300h.01" stroke="var(--bg)" />
    </>
  ),
  CANCELLED: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M4.5 11.500l7-7" />
    </>
  ),
  EXPIRED: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 5v3l2 1.5" />
    </>
  ),
};

export const StatusIcon = ({ status, size = 16 }: { status: RunStatus; size?: number }) => (
  <svg
    className={`icon status-${status.toLowerCase()}`}
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.6"
    strokeLinecap="round"
    strokeLinejoin="round"
    role="img"
    aria-label={outcomeWords[status]}
  >
    {shapes[status]}
  </svg>
);

/** With the word. */
export const StatusBadge = ({ status }: { status: RunStatus }) => (
  <span className={`badge status-${status.toLowerCase()}`} data-status={status}>
    <StatusIcon status={status} size={14} />
    <span aria-hidden="true">{outcomeWords[status]}</span>
  </span>
);
