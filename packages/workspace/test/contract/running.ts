// The contract of every workspace for running processes: start, input and output.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Chunk, OutputFile } from "@agentcli/protocol";
import { expect, test } from "vitest";
import { bash, exec, freshId, until } from "../support/commands.ts";
import { type WorkspaceLocation, withWorkspace } from "../support/locations.ts";

export function runningContract([, open]: WorkspaceLocation): void {
  test("a command returns its stdout, stderr and exit code", () =>
    withWorkspace(open, async (workspace) => {
      const output = await bash(workspace, "echo out; echo err >&2; exit 3");
      expect(output).toMatchObject({ stdout: "out\n", stderr: "err\n" });
      expect(output.result).toMatchObject({ state: "exited", exitCode: 3, timedOut: false, droppedBytes: 0 });
    }));

  test("output beyond the requested size is kept whole in a file that tools can read, and that is gone at the end", () =>
    withWorkspace(open, async (workspace) => {
      const long = { argv: ["bash", "-c", "echo first; seq 1 2000000; echo last >&2"] };
      const { result } = await exec(workspace, { id: freshId(), start: long, fileAfterBytes: 1000 });
      const { outputFile: file } = result as { outputFile: OutputFile };
      expect(file).toMatchObject({ bytes: 14888896 + 11, isWhole: true });
      const [read] = (await workspace.read({ files: [{ path: file.path, as: "lines", offset: 1_000_001, limit: 1 }] }))
        .files;
      expect(read).toMatchObject({ lines: ["1000000"], totalLines: 2_000_002 });
      expect(await workspace.search({ pattern: "^1234567$", path: file.path })).toMatchObject({
        matches: [{ line: 1234568 }],
      });
      expect((await bash(workspace, `wc -l < ${file.path}`)).stdout.trim()).toBe("2000002");
      const short = { argv: ["bash", "-c", "echo short"] };
      expect((await exec(workspace, { id: freshId(), start: short, fileAfterBytes: 1000 })).result).not.toHaveProperty(
        "outputFile",
      );
      await workspace.close();
      expect(existsSync(file.path)).toBe(false);
    }));

  test("the standard streams can be opened by name", () =>
    withWorkspace(open, async (workspace) => {
      const script = "echo one > /dev/stdout; echo two > /dev/stderr; cat /dev/stdin";
      const output = await exec(workspace, {
        id: freshId(),
        start: { argv: ["bash", "-c", script] },
        input: "three",
        endInput: true,
      });
      expect(output).toMatchObject({ stdout: "one\nthree", stderr: "two\n" });
    }));

  test("each of many commands gets its own output, whole, also beside one that is left running", () =>
    withWorkspace(open, async (workspace) => {
      const run = (script: string) => exec(workspace, { id: freshId(), start: { argv: ["bash", "-c", script] } });
      for (let round = 0; round < 4; round += 1) {
        const outputs = await Promise.all([
          run(`printf 'out %s' ${round}; printf 'err %s' ${round} >&2`),
          run(`yes ${round} | head -c 200000`),
          run(`sleep 5 > /dev/null & echo ${round}`),
        ]);
        expect(outputs[0]).toMatchObject({ stdout: `out ${round}`, stderr: `err ${round}` });
        expect(outputs[1]?.stdout).toBe(`${round}\n`.repeat(200_000).slice(0, 200_000));
        expect(outputs[2]).toMatchObject({ stdout: `${round}\n` });
      }
    }));

  test("a process left behind that reads its own output gets nothing of later commands", () =>
    withWorkspace(open, async (workspace) => {
      const reader = "while :; do cat <&3; cat <&4; sleep 0.01; done > taken 2> /dev/null";
      await bash(workspace, `exec 3< /dev/stdout 4< /dev/stderr; ${reader} & echo $! > pid`);
      for (let round = 0; round < 30; round += 1) {
        expect((await bash(workspace, `echo ${round}`)).stdout).toBe(`${round}\n`);
      }
      expect((await bash(workspace, "kill $(cat pid); cat taken")).stdout).toBe("");
    }));

  test("a command runs in the root, or in the requested directory", () =>
    withWorkspace(open, async (workspace, root) => {
      mkdirSync(join(root, "inner"));
      expect((await bash(workspace, "pwd; echo $PWD")).stdout).toBe(`${workspace.root}\n${workspace.root}\n`);
      expect((await bash(workspace, "pwd", { cwd: "inner" })).stdout).toBe(`${workspace.root}/inner\n`);
    }));

  test("a command gets the tool environment, overridden by the variables of the request", () =>
    withWorkspace(open, async (workspace) => {
      const output = await bash(workspace, 'echo "$TERM $NO_COLOR $PAGER $AGENT_CI $LC_ALL $MINE"', {
        env: { MINE: "yes", PAGER: "less" },
      });
      expect(output.stdout).toBe("dumb 1 less 1 C.UTF-8 yes\n");
    }));

  test("an exit by signal n is reported as exit code 128 + n", () =>
    withWorkspace(open, async (workspace) => {
      expect((await bash(workspace, "kill -KILL $$")).result).toMatchObject({ state: "exited", exitCode: 137 });
    }));

  test("a missing directory or program is named in the error", () =>
    withWorkspace(open, async (workspace) => {
      const nowhere = await bash(workspace, "true", { cwd: "nowhere" });
      expect(nowhere.result).toMatchObject({
        state: "not-started",
        message: expect.stringContaining(`${workspace.root}/nowhere does not exist`),
      });
      const nothing = await exec(workspace, { id: freshId(), start: { argv: ["no-such-program"] } });
      expect(nothing.result).toMatchObject({
        state: "not-started",
        message: expect.stringContaining("no-such-program was not found on PATH"),
      });
      const terminal = { columns: 80, rows: 24 };
      const onTerminal = await exec(workspace, { id: freshId(), start: { argv: ["no-such-program"], terminal } });
      expect(onTerminal.result).toMatchObject({ state: "not-started" });
    }));

  test("a request without a start for an unknown id reports it as unknown", () =>
    withWorkspace(open, async (workspace) => {
      expect((await exec(workspace, { id: "unknown" })).result).toMatchObject({ state: "unknown" });
    }));

  test("the same id never starts two processes", () =>
    withWorkspace(open, async (workspace) => {
      const request = { id: freshId(), start: { argv: ["bash", "-c", "echo $$"] } };
      const [first, second] = await Promise.all([exec(workspace, request), exec(workspace, request)]);
      const third = await exec(workspace, request);
      expect(second.stdout).toBe(first.stdout);
      expect(third).toEqual(first);
    }));

  test("a command that takes longer than the wait keeps running and can be followed from the last sequence number", () =>
    withWorkspace(open, async (workspace, root) => {
      const id = freshId();
      const script = "echo before; until [ -e go ]; do sleep 0.01; done; echo after";
      const seen: Chunk[] = [];
      const early = await exec(workspace, { id, start: { argv: ["bash", "-c", script] }, waitMs: 300 });
      expect(early.result).toEqual({ state: "running", seq: 1 });
      writeFileSync(join(root, "go"), "");
      const signal = new AbortController().signal;
      const late = await workspace.exec({ id, afterSeq: 1 }, (chunk) => seen.push(chunk), signal);
      expect(late).toMatchObject({ state: "exited", exitCode: 0, seq: 2 });
      expect(seen).toEqual([{ seq: 2, stream: "stdout", text: "after\n" }]);
      expect((await exec(workspace, { id })).stdout).toBe("before\nafter\n");
    }));

  test("input reaches a running process in the order it was sent", () =>
    withWorkspace(open, async (workspace) => {
      const id = freshId();
      await exec(workspace, { id, start: { argv: ["cat"] }, input: "one ", waitMs: 0 });
      await exec(workspace, { id, input: "two", waitMs: 0 });
      const output = await exec(workspace, { id, endInput: true });
      expect(output).toMatchObject({ stdout: "one two", result: { state: "exited", exitCode: 0 } });
    }));

  test("a process that does not read its input causes no error", () =>
    withWorkspace(open, async (workspace) => {
      const id = freshId();
      const output = await exec(workspace, {
        id,
        start: { argv: ["true"] },
        input: "x".repeat(500_000),
        endInput: true,
      });
      expect(output.result).toMatchObject({ state: "exited", exitCode: 0 });
      expect((await exec(workspace, { id, input: "more" })).result).toMatchObject({ state: "exited", exitCode: 0 });
    }));

  test("large output streams completely and replays without its middle", () =>
    withWorkspace(open, async (workspace) => {
      const id = freshId();
      const bytes = 20 * 1024 * 1024;
      const start = { argv: ["bash", "-c", `head -c ${bytes} /dev/zero | tr '\\0' x; echo; echo end`] };
      const live = await exec(workspace, { id, start });
      expect(live.stdout.length).toBe(bytes + 5);
      const again = await exec(workspace, { id });
      if (again.result.state !== "exited") throw new Error(`still ${again.result.state}`);
      expect(again.result.droppedBytes).toBe(bytes + 5 - again.stdout.length);
      expect(again.stdout.length).toBeLessThanOrEqual(8 * 1024 * 1024);
      expect(again.stdout.length).toBeGreaterThan(7 * 1024 * 1024);
      expect(again.stdout.endsWith("x\nend\n")).toBe(true);
    }));

  test("multi-byte characters survive being split across reads", () =>
    withWorkspace(open, async (workspace) => {
      const script = "printf '\\xe2'; sleep 0.05; printf '\\x82'; sleep 0.05; printf '\\xac\\xff'";
      expect((await bash(workspace, script)).stdout).toBe("€\ufffd");
      const many = await bash(workspace, "for i in $(seq 60000); do printf '€'; done");
      expect(many.stdout).toBe("€".repeat(60_000));
    }));

  test("stdout and stderr keep their order of arrival", () =>
    withWorkspace(open, async (workspace) => {
      const step = (text: string, to: string) => `echo ${text} ${to}; sleep 0.03`;
      const script = [step("1", ">&1"), step("2", ">&2"), step("3", ">&1"), step("4", ">&2")].join("; ");
      expect((await bash(workspace, script)).all).toBe("1\n2\n3\n4\n");
    }));

  test("a process on a terminal has its size, accepts input and is notified of a resize", () =>
    withWorkspace(open, async (workspace) => {
      const id = freshId();
      const script = "trap 'stty size; exit 7' WINCH; stty size; echo $TERM; while :; do sleep 0.02; done";
      const terminal = { columns: 91, rows: 33 };
      const start = { argv: ["bash", "-c", script], terminal };
      const running = exec(workspace, { id, start });
      await until(async () => (await exec(workspace, { id, waitMs: 1 })).all.includes("xterm"));
      await exec(workspace, { id, resize: { columns: 60, rows: 20 }, waitMs: 0 });
      const output = await running;
      expect(output.result).toMatchObject({ state: "exited", exitCode: 7 });
      expect(output.all).toBe("33 91\r\nxterm-256color\r\n20 60\r\n");
    }));

  test("a terminal echoes its input, and end of input ends the reader", () =>
    withWorkspace(open, async (workspace) => {
      const terminal = { columns: 80, rows: 24 };
      const id = freshId();
      await exec(workspace, { id, start: { argv: ["cat"], terminal }, input: "hallo\n", waitMs: 0 });
      await until(async () => (await exec(workspace, { id, waitMs: 1 })).all === "hallo\r\nhallo\r\n");
      expect((await exec(workspace, { id, endInput: true })).result).toMatchObject({ state: "exited", exitCode: 0 });
    }));

  test("the login environment comes from the profile, without denied variables", () =>
    withWorkspace(open, async (workspace, root) => {
      const profile = "export FROM_PROFILE=yes MY_TOKEN=leaked; echo noise";
      writeFileSync(join(root, "shell"), `#!/bin/bash\n${profile}\nexec bash "-c" "$2"\n`, { mode: 0o755 });
      const script = 'echo "$FROM_PROFILE $MY_TOKEN"';
      const output = await bash(workspace, script, { loginShell: join(workspace.root, "shell") });
      expect(output.stdout).toBe("yes \n");
      const fallback = await bash(workspace, script, { loginShell: join(workspace.root, "no-such-shell") });
      expect(fallback.stdout).toBe(" \n");
    }));

  test("files are read in the workspace", () =>
    withWorkspace(open, async (workspace, root) => {
      writeFileSync(join(root, "a.txt"), "hallo");
      const result = await workspace.read({
        files: [
          { path: "a.txt", as: "lines" },
          { path: "b.txt", as: "lines" },
        ],
      });
      expect(result.files).toMatchObject([
        { kind: "lines", lines: ["hallo"] },
        { kind: "fault", code: "missing" },
      ]);
    }));

  test("the status names root, incarnation and repository", () =>
    withWorkspace(open, async (workspace) => {
      await bash(workspace, "true");
      const status = await workspace.status();
      expect(status).toMatchObject({ root: workspace.root, incarnation: workspace.incarnation, git: null });
      expect(status.processes).toHaveLength(1);
    }));
}
