// A moment, relative to now, with the exact time on hover.
import { type MouseEvent, useEffect, useState } from "react";
import { ago, duration, exactTime } from "../text/format.ts";

export const Moment = ({ at }: { at: string }) => (
  // biome-ignore lint/a11y/useKeyWithClickEvents: the link of the row does the same for the keyboard.
  <time dateTime={at} title={exactTime(at)} onClick={openRow}>
    {ago(at, useNow(30_000))}
  </time>
);

/** In a row of a list, which is one link, it lies above that link, or nothing could be hovered; a click still opens the row. */
function openRow({ currentTarget }: MouseEvent<HTMLElement>): void {
  currentTarget.closest(".row")?.querySelector<HTMLElement>(".row-name")?.click();
}

/** How long something has been going on. */
export const Elapsed = ({ since }: { since: string }) => (
  <span className="numeric">{duration(Math.max(0, useNow(1_000) - new Date(since).getTime()))}</span>
);

function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
