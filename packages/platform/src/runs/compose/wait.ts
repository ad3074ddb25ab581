// A wait that an abort ends.
import { longestTimerMs } from "@agentcli/project";

export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, longestTimerMs));
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
