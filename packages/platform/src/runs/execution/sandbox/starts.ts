// Counts and times the starts of sandboxes.
import type { Metrics } from "../../../foundation/index.ts";

export type MeasureStart = <Started>(start: () => Promise<Started>) => Promise<Started>;

const startBounds = [0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 30];

export function measureStarts(metrics: Metrics): MeasureStart {
  const starts = metrics.counter("platform_sandbox_starts_total", "Sandboxes that were started, by outcome");
  const timed = metrics.duration("platform_sandbox_start_duration_seconds", "Time to start a sandbox", startBounds);
  for (const outcome of ["started", "failed"]) starts.add({ outcome }, 0);
  return async (start) => {
    const beginMs = performance.now();
    try {
      const started = await start();
      starts.add({ outcome: "started" });
      timed.observe((performance.now() - beginMs) / 1_000);
      return started;
    } catch (error) {
      starts.add({ outcome: "failed" });
      throw error;
    }
  };
}
