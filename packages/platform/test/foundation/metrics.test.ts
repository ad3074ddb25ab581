// The metrics endpoint: exposition format and access.
import { afterAll, describe, expect, test } from "vitest";
import { checkMetricsReader, type MetricsAccess, type Peer } from "../../src/foundation/http/metrics-access.ts";
import { openLog, openMetrics } from "../../src/foundation/telemetry/index.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

test("counters, gauges and durations are written in the exposition format", async () => {
  const metrics = openMetrics();
  metrics.counter("requests_total", "Requests").add({ path: 'a"b\\c\n' });
  metrics.counter("requests_total", "Requests").add({ path: 'a"b\\c\n' }, 2);
  for (const dollars of [0.1, 0.2, 0.0000016]) metrics.counter("cost_usd_total", "Cost").add({}, dollars);
  metrics.gauge("runs", "Runs", async () => 3);
  const timed = metrics.duration("took_seconds", "Time");
  timed.observe(0.007, { route: "/" });
  timed.observe(100, { route: "/" });
  const lines = (await metrics.text()).split("\n");
  expect(lines).toContain('requests_total{path="a\\"b\\\\c\\n"} 3');
  expect(lines).toContain("cost_usd_total 0.3000016");
  expect(lines).toContain("# TYPE runs gauge");
  expect(lines).toContain("runs 3");
  expect(lines).toContain('took_seconds_bucket{route="/",le="0.005"} 0');
  expect(lines).toContain('took_seconds_bucket{route="/",le="0.01"} 1');
  expect(lines).toContain('took_seconds_bucket{route="/",le="60"} 1');
  expect(lines).toContain('took_seconds_bucket{route="/",le="+Inf"} 2');
  expect(lines).toContain('took_seconds_count{route="/"} 2');
  expect(lines).toContain('took_seconds_sum{route="/"} 100.007');
});

test("a log line is one JSON object, including the cause of an error", () => {
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

describe("the metrics are read", () => {
  const servers: TestServer[] = [];
  afterAll(() => Promise.all(servers.map(({ close }) => close())));

  const open: MetricsAccess = { token: null, publicUrl: null };
  const judge = (access: MetricsAccess, peer: Peer): string => {
    try {
      checkMetricsReader(access, peer);
      return "read";
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  test.each([
    ["127.0.0.1", "read"],
    ["::ffff:127.0.0.1", "read"],
    ["::1", "read"],
    ["10.0.0.7", "unauthorized"],
    ["fe80::1", "unauthorized"],
    [undefined, "unauthorized"],
  ])("without a token by %s: %s", (address, verdict) => {
    expect(judge(open, { address, headers: {} })).toBe(verdict);
  });

  test("without a token, not through a proxy", () => {
    const here = { address: "127.0.0.1", headers: {} };
    for (const name of ["x-forwarded-for", "forwarded", "via", "x-real-ip"])
      expect(judge(open, { ...here, headers: { [name]: "1.2.3.4" } })).toBe("unauthorized");
    expect(judge({ ...open, publicUrl: "https://platform.example.com" }, here)).toBe("unauthorized");
    expect(judge({ ...open, publicUrl: "http://localhost:7420" }, here)).toBe("read");
  });

  test("without a token, not by DNS rebinding of a page to this machine", () => {
    const by = (host: string) => judge(open, { address: "127.0.0.1", headers: { host } });
    expect(["127.0.0.1:7420", "localhost:7420", "[::1]:7420"].map(by)).toEqual(["read", "read", "read"]);
    expect(["attacker.example:7420", "localhost.attacker.example", "@"].map(by)).toEqual(Array(3).fill("unauthorized"));
  });

  test("with a configured token, only by clients that send it", async () => {
    const server = await testServer({ metricsToken: "sesame" });
    servers.push(server);
    const ask = (authorization?: string) =>
      fetch(`${server.url}/metrics`, authorization === undefined ? {} : { headers: { authorization } });
    const answers = await Promise.all([ask(), ask("Bearer"), ask("Bearer sesam"), ask("sesame"), ask("Bearer sesame")]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 200]);
    expect(await answers[4]?.text()).toContain("process_uptime_seconds");
    expect(await answers[0]?.json()).toMatchObject({ error: { code: "unauthorized" } });
  });
});
