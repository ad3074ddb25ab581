// Several servers on one data directory: each announces itself, and does the work of its roles only.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replyWith, temporaryDirectory } from "@agentcli/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { examine } from "../src/commands/server/examine.ts";
import { loadSettings } from "../src/foundation/config/index.ts";
import { openLog } from "../src/foundation/telemetry/index.ts";
import { type RunningServer, serve } from "../src/serve.ts";
import { announceServer, findServer, listServers, withdrawServer } from "../src/server-file.ts";
import { openSubjects } from "../src/subjects.ts";
import { openRunHarness } from "./runs/run-harness.ts";

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  folder = await temporaryDirectory();
});
afterEach(() => folder.remove());

test("server.json lists all servers, and each removes only itself", () => {
  const [first, second, runner] = ["http://127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.1:3"] as const;
  announceServer(folder.path, { url: first, roles: ["api", "runner"] });
  announceServer(folder.path, { url: second, roles: ["api"] });
  announceServer(folder.path, { url: runner, roles: ["runner"] });
  expect(listServers(folder.path).map(({ url }) => url)).toEqual([first, second, runner]);
  expect(findServer(folder.path)?.url).toBe(second);
  withdrawServer(folder.path, second);
  expect(listServers(folder.path).map(({ url }) => url)).toEqual([first, runner]);
  expect(findServer(folder.path)?.url).toBe(first);
  withdrawServer(folder.path, first);
  expect(findServer(folder.path)).toBeNull();
  withdrawServer(folder.path, runner);
  expect(() => readFileSync(join(folder.path, "server.json"))).toThrow("ENOENT");
});

test("a server that was killed is not listed, and neither it nor its lock keeps others from starting", () => {
  const dead = { url: "http://127.0.0.1:1", pid: 2 ** 30, roles: ["api"] };
  writeFileSync(join(folder.path, "server.json"), JSON.stringify({ servers: [dead] }));
  writeFileSync(join(folder.path, "server.json.lock"), "");
  announceServer(folder.path, { url: "http://127.0.0.1:2", roles: ["api"] });
  expect(JSON.parse(readFileSync(join(folder.path, "server.json"), "utf8"))).toEqual({
    servers: [{ url: "http://127.0.0.1:2", pid: process.pid, roles: ["api"] }],
  });
});

test("a list of servers that cannot be read is an error, and not an empty list", async () => {
  const path = join(folder.path, "server.json");
  mkdirSync(path);
  const message = `Cannot read ${path}, which lists the running servers: EISDIR. Repair or remove it, and try again.`;
  expect(() => findServer(folder.path)).toThrow(message);
  expect(() => withdrawServer(folder.path, "http://127.0.0.1:1")).toThrow(message);
  const directories = { userHome: folder.path, cwd: folder.path, programDirectory: folder.path };
  const { settings } = loadSettings({ flags: { data: folder.path }, variables: {}, ...directories });
  expect((await examine(settings)).find(({ subject }) => subject === "server")).toEqual({
    subject: "server",
    verdict: "wrong",
    text: message,
  });
});

test("a server with the role api runs nothing, one with the role runner serves no API", async () => {
  const { client, fixture } = await openRunHarness({ replies: [replyWith("Done.")], settings: { roles: ["api"] } });
  const { platform } = fixture;
  const ids = await client.create({ prompt: { text: "work" } });
  let runner: RunningServer | undefined;
  try {
    expect((await client.read(ids)).status).toBe("CREATING");
    const settings = { ...platform.settings, roles: ["runner" as const] };
    runner = await serve({ ...platform, nodeId: "runner", settings, close: async () => {} });
    await client.stream(ids);
    expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "Done." });
    const own = await platform.db.selectFrom("runs").select("status").execute();
    expect(own).toEqual([{ status: "FINISHED" }]);
    for (const path of ["/v1/agents", "/v1/me", "/v0/agents", "/login", "/agents", "/git/default/r.git/info/refs"])
      expect((await fetch(`${runner.url}${path}`)).status, path).toBe(404);
    for (const path of ["/healthz", "/readyz"]) expect((await fetch(`${runner.url}${path}`)).status).toBe(200);
    expect(listServers(platform.settings.dataDirectory).map(({ roles }) => roles)).toEqual([["api"], ["runner"]]);
  } finally {
    await runner?.stop();
  }
  expect(listServers(platform.settings.dataDirectory).map(({ roles }) => roles)).toEqual([["api"]]);
});

test("parts of a server that fail to stop are logged, and the others stop all the same", async () => {
  const { fixture } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const lines: string[] = [];
  const log = openLog({ write: (line) => lines.push(line), now: () => new Date() });
  const stopped: string[] = [];
  const failing = (name: string) => async () => {
    stopped.push(name);
    throw new Error(`${name} got no answer of the database`);
  };
  const server = await serve(
    { ...fixture.platform, nodeId: "other", log, close: failing("the context") },
    async (context) => {
      const opened = await openSubjects(context);
      const start = (name: string) => async () => ({ stop: failing(name) });
      const activities = ["one", "two"].map((name) => ({ role: "every server" as const, start: start(name) }));
      return { ...opened, subjects: [...opened.subjects, { activities }] };
    },
  );
  await server.stop();
  expect(stopped).toEqual(["one", "two", "the context"]);
  const logged = lines.map((line) => JSON.parse(line) as { event: string; error?: string });
  expect(logged.filter(({ event }) => event === "server.part_not_stopped").map(({ error }) => error)).toEqual(
    stopped.map((name) => `${name} got no answer of the database`),
  );
  expect(logged.at(-1)).toMatchObject({ event: "server.stopped" });
  await expect(fetch(server.url)).rejects.toThrow();
});
