// What every workspace promises about the end of processes, wherever it is.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bash, exec, freshId, until } from "./commands.ts";
import { inPlace, type Place } from "./places.ts";
import { processesWith } from "./processes-alive.ts";

export function endingContract([, open]: Place): void {
  test("a signal can be sent to a running process and its children", () =>
    inPlace(open, async (workspace) => {
      const id = freshId();
      const script = "trap 'echo caught; exit 5' INT; echo ready; sleep 1000 & wait";
      const start = { argv: ["bash", "-c", script] };
      const running = workspace.exec({ id, start }, () => {}, new AbortController().signal);
      await until(async () => (await exec(workspace, { id, waitMs: 1 })).stdout === "ready\n");
      await exec(workspace, { id, signal: "SIGINT", waitMs: 0 });
      expect(await running).toMatchObject({ state: "exited", exitCode: 5 });
    }));

  test("the time-out ends the whole group with exit code 124", () =>
    inPlace(open, async (workspace) => {
      const word = randomUUID();
      const told = await bash(workspace, `echo begun; sh -c 'sleep 1000; : ${word}' & wait`, { timeoutMs: 2_000 });
      expect(told.stdout).toBe("begun\n");
      expect(told.result).toMatchObject({ state: "exited", exitCode: 124, timedOut: true });
      expect(processesWith(word)).toEqual([]);
    }));

  test("the time-out ends what ignores a polite request, and what has left the session", () =>
    inPlace(open, async (workspace) => {
      const word = randomUUID();
      const stubborn = `trap '' TERM; while :; do sleep 0.05; done; : ${word}`;
      const script = `setsid bash -c "${stubborn}" & bash -c "${stubborn}"`;
      const told = await bash(workspace, script, { timeoutMs: 200 });
      expect(told.result).toMatchObject({ exitCode: 124 });
      expect(processesWith(word)).toEqual([]);
    }));

  test("an abort ends the process before the call settles", () =>
    inPlace(open, async (workspace) => {
      const word = randomUUID();
      const abort = new AbortController();
      const start = { argv: ["bash", "-c", `sleep 1000; : ${word}`] };
      const running = exec(workspace, { id: freshId(), start }, abort.signal);
      await until(() => processesWith(word).length > 0);
      abort.abort();
      expect((await running).result).toMatchObject({ state: "exited", exitCode: 143, timedOut: false });
      expect(processesWith(word)).toEqual([]);
    }));

  test("what was aborted beforehand does not start", () =>
    inPlace(open, async (workspace, root) => {
      const start = { argv: ["touch", "trace"] };
      const told = await exec(workspace, { id: freshId(), start }, AbortSignal.abort());
      expect(told.result).toMatchObject({ state: "not-started" });
      expect((await bash(workspace, `ls ${root}`)).stdout).not.toContain("trace");
    }));

  test("a server left in the background is reachable from the next command", () =>
    inPlace(open, async (workspace) => {
      const server = `
        const server = require("node:net").createServer((socket) => socket.end("served"));
        server.listen(0, "127.0.0.1", () => require("node:fs").writeFileSync("port", String(server.address().port)));`;
      writeFileSync(join(workspace.root, "server.cjs"), server);
      const begun = await bash(workspace, `${process.execPath} server.cjs & until [ -s port ]; do sleep 0.01; done`);
      expect(begun.result).toMatchObject({ state: "exited", exitCode: 0 });
      expect((await bash(workspace, "cat < /dev/tcp/127.0.0.1/$(cat port)")).stdout).toBe("served");
    }));

  test("a chatty child left behind does not keep its command from ending", () =>
    inPlace(open, async (workspace) => {
      const told = await bash(workspace, "(while :; do echo noise; sleep 0.02; done) & echo done");
      expect(told.result).toMatchObject({ state: "exited", exitCode: 0 });
    }));

  test("release ends the named processes with everything they started, and forgets them", () =>
    inPlace(open, async (workspace) => {
      const [kept, released] = [randomUUID(), randomUUID()];
      const sleeper = (word: string) => `setsid sh -c 'sleep 1000; : ${word}' & sh -c 'sleep 1000; : ${word}' & true`;
      await exec(workspace, { id: "kept", start: { argv: ["bash", "-c", sleeper(kept)] } });
      await exec(workspace, { id: "released", start: { argv: ["bash", "-c", sleeper(released)] } });
      expect(processesWith(released)).toHaveLength(2);
      await workspace.release(["released", "nobody"]);
      expect(processesWith(released)).toEqual([]);
      expect(processesWith(kept)).toHaveLength(2);
      expect((await exec(workspace, { id: "released" })).result).toMatchObject({ state: "unknown" });
      expect((await workspace.status()).processes).toEqual([{ id: "kept", state: "exited" }]);
      await workspace.release([]);
      expect(processesWith(kept)).toEqual([]);
      expect((await workspace.status()).processes).toEqual([]);
    }));

  test("release ends a process somebody waits for, and its call settles", () =>
    inPlace(open, async (workspace) => {
      const id = freshId();
      const running = exec(workspace, { id, start: { argv: ["sleep", "1000"] } });
      await until(async () => (await workspace.status()).processes.length === 1);
      await workspace.release([]);
      expect((await running).result).toMatchObject({ state: "exited", exitCode: 143 });
    }));

  test("closing leaves nothing running", async () => {
    const word = randomUUID();
    await inPlace(open, async (workspace) => {
      await bash(workspace, `setsid sh -c 'sleep 1000; : ${word}' & true`);
      await exec(workspace, { id: freshId(), start: { argv: ["sh", "-c", `sleep 1000; : ${word}`] }, waitMs: 0 });
      await until(() => processesWith(word).length === 2);
    });
    expect(processesWith(word)).toEqual([]);
  });
}
