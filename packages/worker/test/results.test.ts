// Results on disk: what a worker that was killed and started again still knows of the commands it ran.
import type { Chunk, ExecResult } from "@agentcli/protocol";
import { temporaryDirectory } from "@agentcli/testkit";
import { openServer } from "@agentcli/workspace";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { bash } from "../../workspace/test/support/commands.ts";
import { recordResults } from "../src/recorded-workspace.ts";
import { openResults, removeResults, restoreSandboxes } from "../src/results.ts";

const sandbox = { runId: "run-1", key: "workspace-write 1", incarnation: "i-1" };
let directory: string;
beforeEach(async () => {
  const folder = await temporaryDirectory();
  directory = folder.path;
  onTestFinished(folder.remove);
});

/** As a process of the worker opens it; the next one opens it again. */
async function open(name = sandbox) {
  const env = { PATH: process.env.PATH ?? "" };
  const server = await openServer({ root: directory, writable: [directory], env, orphans: "ended-by-watchdog" });
  const workspace = recordResults(server, openResults(directory, name));
  onTestFinished(() => workspace.close());
  return workspace;
}

const start = (script: string) => ({ argv: ["bash", "-c", script] });
const never = new AbortController().signal;

async function exec(workspace: Awaited<ReturnType<typeof open>>, request: Parameters<typeof workspace.exec>[0]) {
  const chunks: Chunk[] = [];
  const result = await workspace.exec(request, (chunk) => chunks.push(chunk), never);
  return { result, text: chunks.map(({ text }) => text).join(""), chunks };
}

const isKept = async (id: string): Promise<ExecResult | null | undefined> =>
  openResults(directory, sandbox).find(id)?.ended;

test("a finished command is not run again, and its output and exit code are replayed", async () => {
  const first = await open();
  const script = "echo ran >> count; cat count; echo error >&2; exit 3";
  const before = await exec(first, { id: "c1", start: start(script) });
  await expect.poll(() => isKept("c1")).toMatchObject({ state: "exited" });
  const after = await exec(await open(), { id: "c1", start: start(script) });
  expect(after).toEqual(before);
  expect(after.result).toMatchObject({ state: "exited", exitCode: 3 });
  expect((await bash(await open(), "cat count")).stdout).toBe("ran\n");
});

test("only output after the cursor of the reader is replayed", async () => {
  const { chunks } = await exec(await open(), { id: "c1", start: start("echo a; sleep 0.1; echo b") });
  await expect.poll(() => isKept("c1")).toMatchObject({ state: "exited" });
  const rest = await exec(await open(), { id: "c1", afterSeq: 1 });
  expect(rest.chunks).toEqual(chunks.slice(1));
});

test("a command that ran when the worker was killed is not started again; its outcome is unknown", async () => {
  const first = await open();
  const running = await exec(first, { id: "c1", start: start("echo begun; sleep 3600"), waitMs: 100 });
  expect(running.result.state).toBe("running");
  await expect.poll(async () => openResults(directory, sandbox).find("c1")?.chunks.length).toBe(1);
  const after = await exec(await open(), { id: "c1", start: start("echo twice") });
  expect(after).toMatchObject({ text: "begun\n", result: { state: "unknown" } });
  expect(after.result).toMatchObject({ message: expect.stringContaining("restarted while this command ran") });
});

test("commands that the worker itself ends are not kept as finished", async () => {
  const first = await open();
  await exec(first, { id: "c1", start: start("sleep 3600"), waitMs: 10 });
  await first.close();
  expect(await isKept("c1")).toBeNull();
});

test("results belong to one incarnation of one run", async () => {
  await exec(await open(), { id: "c1", start: start("true") });
  await expect.poll(() => isKept("c1")).toMatchObject({ state: "exited" });
  expect(restoreSandboxes(directory, "run-1")).toEqual(new Map([[sandbox.key, "i-1"]]));
  expect(openResults(directory, { ...sandbox, incarnation: "i-2" }).find("c1")).toBeUndefined();
  expect(restoreSandboxes(directory, "run-2")).toEqual(new Map());
  expect(restoreSandboxes(directory, "run-1")).toEqual(new Map());
});

test("a release and the end of the run remove what is kept", async () => {
  const first = await open();
  for (const id of ["c1", "c2"]) await exec(first, { id, start: start("true") });
  await expect.poll(async () => [await isKept("c1"), await isKept("c2")]).toMatchObject([{}, {}]);
  await first.release(["c1"]);
  expect([await isKept("c1"), await isKept("c2")]).toMatchObject([undefined, { state: "exited" }]);
  removeResults(directory);
  expect(await isKept("c2")).toBeUndefined();
});

test("of a long output the beginning is kept, and what is missing is counted", async () => {
  const { result } = await exec(await open(), { id: "c1", start: start("head -c 9000000 /dev/zero | tr '\\0' x") });
  expect(result).toMatchObject({ state: "exited" });
  await expect.poll(() => isKept("c1")).toMatchObject({ state: "exited" });
  const after = await exec(await open(), { id: "c1" });
  const dropped = after.result.state === "exited" ? after.result.droppedBytes : 0;
  expect(after.text.length).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(after.text.length + dropped).toBe(9_000_000);
});
