// Where local agents are kept: a store of the caller's own, the usual one, and files that others wrote.
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { replyWith, stall, temporaryDirectory } from "@agentcli/testkit";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { accountCalls } from "../src/account.ts";
import { agentCalls } from "../src/agents.ts";
import { openDefaults } from "../src/defaults.ts";
import { ConfigurationError } from "../src/errors.ts";
import { readServerFile } from "../src/local/sources/server-file.ts";
import { openFileStore } from "../src/local/store/files.ts";
import type { LocalAgentStore, LocalRunEvent } from "../src/local-store.ts";
import { openLocalHarness, readAll, runtimeWith } from "./local-harness.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);

/** The least that keeps the promises of a store, for one process. */
function memoryStore(): LocalAgentStore {
  const agents = new Map<string, Awaited<ReturnType<LocalAgentStore["agents"]["list"]>>[number]>();
  const runs = new Map<string, Awaited<ReturnType<LocalAgentStore["runs"]["list"]>>[number]>();
  const lines = new Map<string, { seq: number }[]>();
  const held = new Set<string>();
  const cancelled = new Set<string>();
  const append = async (name: string, more: { seq: number }[]) =>
    void lines.set(name, [...(lines.get(name) ?? []), ...more]);
  return {
    agents: {
      list: async () => [...agents.values()],
      get: async (id) => agents.get(id) ?? null,
      put: async (agent) => void agents.set(agent.agentId, agent),
      delete: async (id) => void agents.delete(id),
    },
    runs: {
      list: async (id) => [...runs.values()].filter(({ agentId }) => agentId === id),
      put: async (run) => void runs.set(run.id, run),
      requestCancel: async (_, id) => void cancelled.add(id),
      isCancelRequested: async (_, id) => cancelled.has(id),
    },
    runEvents: {
      append: (_, id, events) => append(id, events),
      read: async (_, id, after) => ((lines.get(id) ?? []) as LocalRunEvent[]).filter(({ seq }) => seq > after),
    },
    checkpoints: {
      append: (_, id, more) => append(id, more),
      read: async (_, id) => (lines.get(id) ?? []) as Awaited<ReturnType<LocalAgentStore["checkpoints"]["read"]>>,
    },
    async claim(id) {
      if (held.has(id)) return { kind: "busy", holder: "this process" };
      held.add(id);
      return { kind: "held", release: async () => void held.delete(id) };
    },
  };
}

test("a store that was configured holds for calls that name none, until it is cleared", async () => {
  const harness = await openLocalHarness([replyWith("Kept.")]);
  const runtime = runtimeWith(harness.variables);
  const defaults = openDefaults();
  const [Agent, Platform] = [agentCalls(runtime, defaults), accountCalls(runtime, defaults)];
  const filter = { runtime: "local", cwd: harness.repository.path } as const;
  Platform.configure({ local: { store: memoryStore() } });
  Platform.configure({ local: { useHttp1ForAgent: true, workspaceScanCacheTtlMs: 1 } });
  await Agent.prompt("Hello", harness.options());
  expect((await Agent.list(filter)).items).toHaveLength(1);
  Platform.configure({ local: { store: null } });
  expect((await Agent.list(filter)).items).toEqual([]);
});

test("an agent lives in the store it is given, and nowhere else", async () => {
  const harness = await openLocalHarness([replyWith("One."), stall("before-headers"), replyWith("Two.")]);
  const store = memoryStore();
  const agent = await harness.Agent.create(harness.options({ local: { store } }));
  const first = await (await agent.send("Count")).wait();
  const again = await harness.Agent.resume(agent.agentId, harness.options({ local: { store } }));
  const second = await again.send("Wait");
  await expect.poll(() => harness.requests().length).toBe(2);
  await expect(agent.send("Me too")).rejects.toMatchObject({ code: "agent_busy" });
  await harness.Agent.cancelRun(second.id, { agentId: agent.agentId, store });
  expect((await (await again.send("Go on")).wait()).result).toBe("Two.");
  const { items } = await harness.Agent.listRuns(agent.agentId, { store });
  expect(items.map(({ status }) => status)).toEqual(["finished", "cancelled", "finished"]);
  const run = await harness.Agent.getRun(first.id, { agentId: agent.agentId, store });
  expect((await readAll(run)).at(-1)).toMatchObject({ type: "status", status: "FINISHED" });
  expect((await harness.Agent.list({ runtime: "local", cwd: harness.repository.path, store })).items).toHaveLength(1);
  expect(existsSync(harness.sdkHome)).toBe(false);
});

test("a home that cannot be written is named", async () => {
  const harness = await openLocalHarness([]);
  mkdirSync(join(harness.home, ".platform"));
  writeFileSync(harness.sdkHome, "a file");
  const agent = await harness.Agent.create(harness.options());
  await expect(agent.send("Hello")).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("PLATFORM_SDK_HOME"),
  });
});

test("a last event cut short by a crash was never there", async () => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const store = openFileStore(home.path);
  const event = (seq: number): LocalRunEvent => ({ seq, frame: { event: "assistant", data: { text: `${seq}` } } });
  const claim = await store.claim("agent-1");
  await store.runEvents.append("agent-1", "run-1", [event(1), event(2)]);
  expect(await store.runEvents.read("agent-1", "run-1", 0)).toEqual([event(1), event(2)]);
  if (claim.kind === "held") await claim.release();
  appendFileSync(join(home.path, "agents/agent-1/runs/run-1.jsonl"), '{"seq":3,"fra');
  expect(await store.runEvents.read("agent-1", "run-1", 2)).toEqual([]);
  await store.claim("agent-1");
  await store.runEvents.append("agent-1", "run-1", [event(3)]);
  expect(await store.runEvents.read("agent-1", "run-1", 2)).toEqual([event(3)]);
  expect(await store.runEvents.read("agent-1", "run-1", 0)).toEqual([event(1), event(2), event(3)]);
});

test("whatever stands in mcp.json, it is servers or a refusal that names the file", async () => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const path = join(home.path, "mcp.json");
  const server = fc.record(
    {
      command: fc.oneof(fc.string(), fc.jsonValue()),
      url: fc.oneof(fc.webUrl(), fc.jsonValue()),
      args: fc.jsonValue(),
      env: fc.dictionary(fc.string(), fc.jsonValue()),
      headers: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const file = fc.oneof(
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc.dictionary(fc.string(), fc.oneof(server, fc.jsonValue())).map((mcpServers) => JSON.stringify({ mcpServers })),
    fc.string(),
  );
  fc.assert(
    fc.property(file, (text) => {
      writeFileSync(path, text);
      try {
        for (const config of Object.values(readServerFile(path)))
          expect(typeof ("url" in config ? config.url : config.command)).toBe("string");
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigurationError);
        expect((error as Error).message).toContain(path);
      }
    }),
    { numRuns },
  );
});

test.each([
  [
    "that other users can write",
    (directory: string) => chmodSync(join(directory, "agent.json"), 0o666),
    "can be written",
  ],
  [
    "with another name",
    (directory: string) => linkSync(join(directory, "agent.json"), `${directory}.json`),
    "another name",
  ],
  [
    "whose conversation other users can write",
    (directory: string) => chmodSync(join(directory, "threads", `${basename(directory)}.jsonl`), 0o666),
    "can be written",
  ],
  [
    "behind a link",
    (directory: string) => {
      renameSync(directory, `${directory}.moved`);
      symlinkSync(`${directory}.moved`, directory);
    },
    "is a symbolic link",
  ],
])("an agent %s is not continued", async (_what, change, why) => {
  const harness = await openLocalHarness([replyWith("One."), replyWith("Two.")]);
  const agent = await harness.Agent.create(harness.options());
  await (await agent.send("One")).wait();
  change(join(harness.sdkHome, "agents", agent.agentId));
  const sent = async () => {
    const again = await harness.Agent.resume(agent.agentId, harness.options());
    const result = await (await again.send("Two")).wait();
    throw new Error(JSON.stringify(result));
  };
  await expect(sent()).rejects.toThrow(why);
  expect(harness.requests()).toHaveLength(1);
});
