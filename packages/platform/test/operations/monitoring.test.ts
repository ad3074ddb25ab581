// The dashboard and the alert rules in deploy/: they parse, and every metric they use is exported by a server.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "@agentcli/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let exported: Map<string, string>;

beforeAll(async () => {
  server = await testServer();
  const text = await (await fetch(`${server.url}/metrics`)).text();
  exported = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
});
afterAll(() => server.close());

const read = (path: string): string => readFileSync(join(projectRoot, "deploy", path), "utf8");

interface Rule {
  alert: string;
  expr: string;
  body: string;
}

/** The part of YAML that the file uses; a line of any other form is refused. */
function readRules(text: string): Rule[] {
  const [head = "", ...blocks] = text.split(/^ {6}- alert: /m);
  expect(head).toMatch(/^(?:#.*\n)*groups:\n {2}- name: \w+\n {4}rules:\n$/);
  return blocks.map((block) => {
    const [alert = "", ...lines] = block.trimEnd().split("\n");
    for (const line of lines)
      expect(line).toMatch(/^ {8}(?:expr: \S.*|for: \d+[smhd]|labels: \{ severity: \w+ \}|annotations:)$|^ {10}\S.*$/);
    const body = lines.join("\n");
    const folded = /^ {8}expr: >-\n((?: {10}.*\n)+)/m.exec(body)?.[1];
    const expr = folded?.replace(/\s+/g, " ").trim() ?? /^ {8}expr: (.*)$/m.exec(body)?.[1] ?? "";
    return { alert, expr, body };
  });
}

const rules = readRules(read("prometheus/alerts.yml"));

interface Panel {
  id: number;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets: { expr: string }[];
}

const dashboard = JSON.parse(read("grafana/platform.json")) as { uid: string; title: string; panels: Panel[] };

const words = new Set(
  "sum max min count rate increase histogram_quantile by and or unless up bool on ignoring without".split(" "),
);

/** Names outside of selectors, ranges and lists of labels. */
function metricsIn(expr: string): string[] {
  const bare = expr
    .replace(/"(?:[^"\\]|\\.)*"/g, "")
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, "")
    .replace(/\b(?:by|without|on|ignoring) \([^)]*\)/g, "");
  return [...bare.matchAll(/[a-z_:][\w:]*/gi)].map(([name]) => name).filter((name) => !words.has(name));
}

/** A histogram is read by its buckets, sum and count. */
const isExported = (name: string): boolean => {
  const type = exported.get(name);
  const histogram = exported.get(name.replace(/_(?:bucket|sum|count)$/, ""));
  return type === undefined ? histogram === "histogram" : type !== "histogram";
};

const isBalanced = (expr: string): boolean =>
  [
    ["(", ")"],
    ["{", "}"],
    ["[", "]"],
  ].every(([open = "", close = ""]) => expr.split(open).length === expr.split(close).length);

describe("the alert rules", () => {
  test.each(rules.map((rule) => [rule.alert, rule] as const))("%s uses what a server exports", (alert, rule) => {
    expect(alert).toMatch(/^Platform[A-Z]\w+$/);
    expect(isBalanced(rule.expr)).toBe(true);
    expect(metricsIn(rule.expr).filter((name) => !isExported(name))).toEqual([]);
    expect(rule.body).toMatch(/^ {8}labels: \{ severity: (?:critical|warning|info) \}$/m);
    expect(rule.body).toMatch(/^ {10}summary: ".+"$/m);
    expect(rule.body).toMatch(/^ {10}description: ".+"$/m);
  });

  test("have names of their own", () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    expect(rules.length).toBeGreaterThan(8);
  });
});

describe("the dashboard", () => {
  test.each(dashboard.panels.map((panel) => [panel.title, panel] as const))("shows %s", (_title, { targets }) => {
    expect(targets.length).toBeGreaterThan(0);
    for (const { expr } of targets) {
      expect(isBalanced(expr)).toBe(true);
      expect(metricsIn(expr).filter((name) => !isExported(name))).toEqual([]);
    }
  });

  test("has panels that do not overlap", () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });
});

test("every metric of runs, sandboxes and webhooks has a place on the dashboard or in a rule", () => {
  const shown = new Set(
    [...rules.map(({ expr }) => expr), ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))]
      .flatMap(metricsIn)
      .map((name) => name.replace(/_bucket$/, "")),
  );
  const forOperators = [...exported.keys()].filter((name) => /^platform_(?:run|sandbox|storage|database)/.test(name));
  expect(forOperators.length).toBeGreaterThan(10);
  expect(forOperators.filter((name) => !shown.has(name))).toEqual([]);
});

test("names follow the conventions: totals of counters, seconds of durations", () => {
  for (const [name, type] of exported) {
    if (type === "counter") expect(name).toMatch(/_total$/);
    else expect(name).not.toMatch(/_total$/);
    if (type === "histogram") expect(name).toMatch(/_seconds$/);
  }
});

test("administrators read the state of the platform, and no other key does", async () => {
  const admin = await server.key({ name: "admin" });
  const { nodeId, settings } = server.platform;
  const { body } = await server.call(admin, "GET", "/v1/status");
  expect(body).toMatchObject({
    status: "ok",
    problems: [],
    version: expect.stringMatching(/^\d/),
    nodeId,
    roles: settings.roles,
    nodes: [{ id: nodeId, state: "running", roles: settings.roles, version: expect.any(String) }],
    runs: { queued: 0, oldestQueuedSeconds: 0, running: 0, concurrentRuns: settings.concurrentRuns },
    model: { id: "practice", provider: "practice", practice: true },
  });
  const account = await server.key({ name: "account", owner: { kind: "service_account", name: "account" } });
  for (const key of [account, await server.key({ scopes: ["agents:read", "agents:write"] })])
    expect(await server.call(key, "GET", "/v1/status")).toMatchObject({ status: 403 });
  expect((await fetch(`${server.url}/v1/status`)).status).toBe(401);
});
