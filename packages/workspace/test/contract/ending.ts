// The contract of every workspace for ending processes.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bash, exec, freshId, until } from "../support/commands.ts";
import { type WorkspaceLocation, withWorkspace } from "../support/locations.ts";
import { processesWith } from "../support/processes-alive.ts";

export function endingContract([, open]: WorkspaceLocation): void {
  test("a signal can be sent to a running process and its children", () =>
    withWorkspace(open, async (workspace) => {
      const id = freshId();
      const script = "trap 'echo caught; exit 5' INT; echo ready; sleep 1000 & wait";
      const start = { argv: ["bash", "-c", script] };
      const running = workspace.exec({ id, start }, () => {}, new AbortController().signal);
      await until(async () => (await exec(workspace, { id, waitMs: 1 })).stdout === "ready\n");
      await exec(workspace, { id, signal: "SIGINT", waitMs: 0 });
      expect(await running).toMatchObject({ state: "exited", exitCode: 5 });
    }));

  test("the timeout ends the whole process group with exit code 124", () =>
    withWorkspace(open, async (workspace) => {
      const marker = randomUUID();
      const output = await bash(workspace, `echo begun; sh -c 'sleep 1000; : ${marker}' & wait`, { timeoutMs: 2_000 });
      expect(output.stdout).toBe("begun\n");
      expect(output.result).toMatchObject({ state: "exited", exitCode: 124, timedOut: true });
      expect(processesWith(marker)).toEqual([]);
    }));

  test("the timeout ends processes that ignore SIGTERM or have left the session", () =>
    withWorkspace(open, async (workspace) => {
      const marker = randomUUID();
      const ignoresTerm = `trap '' TERM; while :; do sleep 0.05; done; : ${marker}`;
      const script = `setsid bash -c "${ignoresTerm}" & bash -c "${ignoresTerm}"`;
      const output = await bash(workspace, script, { timeoutMs: 200 });
      expect(output.result).toMatchObject({ exitCode: 124 });
      expect(processesWith(marker)).toEqual([]);
    }));

  test("an abort ends the process before the call settles", () =>
    withWorkspace(open, async (workspace) => {
      const marker = randomUUID();
      const abort = new AbortController();
      const start = { argv: ["bash", "-c", `sleep 1000; : ${marker}`] };
      const running = exec(workspace, { id: freshId(), start }, abort.signal);
      await until(() => processesWith(marker).length > 0);
      abort.abort();
      expect((await running).result).toMatchObject({ state: "exited", exitCode: 143, timedOut: false });
      expect(processesWith(marker)).toEqual([]);
    }));

  test("a call aborted beforehand does not start its process", () =>
    withWorkspace(open, async (workspace) => {
      const start = { argv: ["touch", "trace"] };
      const output = await exec(workspace, { id: freshId(), start }, AbortSignal.abort());
      expect(output.result).toMatchObject({ state: "not-started" });
      expect((await bash(workspace, `ls ${workspace.root}`)).stdout).not.toContain("trace");
    }));

  test("a background server is reachable from the next command", () =>
    withWorkspace(open, async (workspace, root) => {
      const server = `
        const server = require("node:net").createServer((socket) => socket.end("served"));
        server.listen(0, "127.0.0.1", () => require("node:fs").writeFileSync("port", String(server.address().port)));`;
      writeFileSync(join(root, "server.cjs"), server);
      const begun = await bash(workspace, `${process.execPath} server.cjs & until [ -s port ]; do sleep 0.01; done`);
      expect(begun.result).toMatchObject({ state: "exited", exitCode: 0 });
      expect((await bash(workspace, "cat < /dev/tcp/127.0.0.1/$(cat port)")).stdout).toBe("served");
    }));

  test("a background child that keeps writing does not keep its command from ending", () =>
    withWorkspace(open, async (workspace) => {
      const output = await bash(workspace, "(while :; do echo noise; sleep 0.02; done) & echo done");
      expect(output.result).toMatchObject({ state: "exited", exitCode: 0 });
    }));

  test("release ends the named processes and their descendants, and forgets them", () =>
    withWorkspace(open, async (workspace) => {
      const [kept, released] = [randomUUID(), randomUUID()];
      const sleeper = (marker: string) =>
        `setsid sh -c 'sleep 1000; : ${marker}' & sh -c 'sleep 1000; : ${marker}' & true`;
      await exec(workspace, { id: "kept", start: { argv: ["bash", "-c", sleeper(kept)] } });
      await exec(workspace, { id: "released", start: { argv: ["bash", "-c", sleeper(released)] } });
      expect(processesWith(released)).toHaveLength(2);
      await workspace.release(["released", "unknown"]);
      expect(processesWith(released)).toEqual([]);
      expect(processesWith(kept)).toHaveLength(2);
      expect((await exec(workspace, { id: "released" })).result).toMatchObject({ state: "unknown" });
      expect((await workspace.status()).processes).toEqual([{ id: "kept", state: "exited" }]);
      await workspace.release([]);
      expect(processesWith(kept)).toEqual([]);
      expect((await workspace.status()).processes).toEqual([]);
    }));

  test("release ends a process that a call is waiting for, and the call settles", () =>
    withWorkspace(open, async (workspace) => {
      const id = freshId();
      const running = exec(workspace, { id, start: { argv: ["sleep", "1000"] } });
      await until(async () => (await workspace.status()).processes.length === 1);
      await workspace.release([]);
      expect((await running).result).toMatchObject({ state: "exited", exitCode: 143 });
    }));

  test("closing leaves no process running", async () => {
    const marker = randomUUID();
    await withWorkspace(open, async (workspace) => {
      await bash(workspace, `setsid sh -c 'sleep 1000; : ${marker}' & true`);
      await exec(workspace, { id: freshId(), start: { argv: ["sh", "-c", `sleep 1000; : ${marker}`] }, waitMs: 0 });
      await until(() => processesWith(marker).length === 2);
    });
    expect(processesWith(marker)).toEqual([]);
  });
}
