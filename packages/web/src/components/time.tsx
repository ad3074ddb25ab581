// A moment, relative to now, with the exact time on hover.
import { useEffect, useState } from "react";
import { ago, duration, exactTime } from "../text/format.ts";

export const Moment = ({ at }: { at: string }) => (
  <time dateTime={at} title={exactTime(at)}>
    {ago(at, useNow(30_000))}
  </time>
);

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
