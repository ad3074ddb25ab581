// The text that a collector reads.
import { expect, test } from "vitest";
import { openLog, openMetrics } from "../src/telemetry/index.ts";

test("counters, gauges and durations are written as a collector expects them", async () => {
  const metrics = openMetrics();
  metrics.counter("requests_total", "Requests").add({ path: 'a"b\\c\n' });
  metrics.counter("requests_total", "Requests").add({ path: 'a"b\\c\n' }, 2);
  metrics.gauge("runs", "Runs", async () => 3);
  const timed = metrics.duration("took_seconds", "Time");
  timed.observe(0.007, { route: "/" });
  timed.observe(100, { route: "/" });
  const lines = (await metrics.text()).split("\n");
  expect(lines).toContain('requests_total{path="a\\"b\\\\c\\n"} 3');
  expect(lines).toContain("# TYPE runs gauge");
  expect(lines).toContain("runs 3");
  expect(lines).toContain('took_seconds_bucket{route="/",le="0.005"} 0');
  expect(lines).toContain('took_seconds_bucket{route="/",le="0.01"} 1');
  expect(lines).toContain('took_seconds_bucket{route="/",le="60"} 1');
  expect(lines).toContain('took_seconds_bucket{route="/",le="+Inf"} 2');
  expect(lines).toContain('took_seconds_count{route="/"} 2');
  expect(lines).toContain('took_seconds_sum{route="/"} 100.007');
});

test("a line of the log is one object, with the cause of an error in it", () => {
  const lines: string[] = [];
  const log = openLog({ write: (line) => lines.push(line), now: () => new Date(0) });
  log.info("server.ready", { port: 1, missing: undefined });
  log.error("run.failed", new Error("outer\nline", { cause: new Error("inner") }), { runId: "run-1" });
  expect(lines[0]).toBe('{"at":"1970-01-01T00:00:00.000Z","level":"info","event":"server.ready","port":1}\n');
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({
    level: "error",
    runId: "run-1",
    error: "outer\nline",
    cause: "inner",
  });
  expect(lines[1]?.indexOf("\n")).toBe((lines[1]?.length ?? 0) - 1);
});
