import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { call, eventually, jsonLines, replyWith, stall, waitForExit } from "@agentcli/testkit";
import { type Event, openHarness } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";

const terminal = (events: Event[]) => events.filter(({ type }) => type === "turn.completed" || type === "turn.failed");

describe("a signal", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s ends the turn with one terminal event, exit code %i and no process left", async (signal, exit) => {
    const replies = [
      call("exec_command", { cmd: "echo $$ > pids; (sleep 1000 & echo $! >> pids; setsid sleep 1000 & wait)" }),
    ];
    const { start, repository, run } = await openHarness({ replies: [...replies, replyWith("Went on.")] });
    const child = start(["exec", "--json", "-s", "danger-full-access", "sleep"]);
    const result = waitForExit(child);
    await eventually(() => lines(join(repository, "pids")).length === 2);
    child.kill(signal);
    const { code, stdout } = await result;
    const events = jsonLines(stdout) as Event[];
    expect(code).toBe(exit);
    expect(terminal(events)).toMatchObject([{ type: "turn.failed", error: { code: "interrupted" } }]);
    expect(events.at(-1)?.type).toBe("turn.failed");
    await eventually(() => running("sleep 1000", repository).length === 0);
    expect((await run(["exec", "resume", "--last", "-s", "danger-full-access", "go on"])).stdout).toBe("Went on.\n");
  });

  test("while the model is silent ends at once", async () => {
    const { start, requests } = await openHarness({ replies: [stall("after-headers")] });
    const child = start(["exec", "--json", "hi"]);
    const result = waitForExit(child);
    await eventually(() => requests().length === 1);
    child.kill("SIGTERM");
    const { code, stdout } = await result;
    expect(code).toBe(143);
    expect(terminal(jsonLines(stdout) as Event[])).toHaveLength(1);
  });
});

describe("a reader of the output", () => {
  const long = { text: { bytes: 2_000_000, deltas: 65_536 } };

  test.each([["--json"], []])("that is slow gets every byte of a 2 MB reply (%s)", async (...flags) => {
    const { start, requests } = await openHarness({ replies: [long] });
    const child = start(["exec", ...flags.filter(Boolean), "say a lot"]);
    child.stdout?.pause();
    await eventually(() => requests().length === 1);
    const result = await slowly(child);
    const text = flags.length > 0 ? messageOf(result.stdout) : result.stdout.slice(0, -1);
    expect(text.length).toBe(2_000_000);
    expect(result.code).toBe(0);
  });

  test("that closes the pipe ends the run quietly", async () => {
    const { start } = await openHarness({ replies: [call("exec_command", { cmd: "sleep 0.5" }), long] });
    const child = start(["exec", "--json", "say a lot"]);
    child.stdout?.once("data", () => child.stdout?.destroy());
    const { code, stderr } = await waitForExit(child);
    expect(code).toBe(141);
    expect(stderr).not.toMatch(/EPIPE|at .+:\d+:\d+/);
  });
});

test("a limit on the whole run ends it with exit code 6 and names it", async () => {
  const config = '[limits]\nwall = "500ms"\n';
  const { events: run } = await openHarness({ replies: [call("exec_command", { cmd: "sleep 1000" })], config });
  const { code, events } = await run(["sleep"]);
  expect(code).toBe(6);
  expect(terminal(events)).toMatchObject([{ type: "turn.failed", error: { code: "limit", limit: "wall" } }]);
});

test("a silent model ends with exit code 6 and names the limit", async () => {
  const config = 'stream_max_retries = 1\n[limits]\nidle = "100ms"\n';
  const { events: run } = await openHarness({ replies: { replies: [stall("after-headers")], repeat: "last" }, config });
  const { code, events } = await run(["hello"]);
  expect(code).toBe(6);
  expect(terminal(events)).toMatchObject([{ error: { code: "limit", limit: "idle" } }]);
});

function messageOf(stdout: string): string {
  const item = (jsonLines(stdout) as { item?: { type: string; text: string } }[]).find(
    (event) => event.item?.type === "agent_message",
  );
  return item?.item?.text ?? "";
}

async function slowly(child: ReturnType<Awaited<ReturnType<typeof openHarness>>["start"]>) {
  const result = waitForExit(child);
  child.stdout?.on("data", () => {
    child.stdout?.pause();
    setTimeout(() => child.stdout?.resume(), 2);
  });
  child.stdout?.resume();
  return result;
}

function lines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").trim().split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

/** Processes of this command line whose working directory is the repository of the test. */
function running(command: string, cwd: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return line === command && readFileSync(`/proc/${pid}/environ`, "utf8").includes(cwd);
    } catch {
      return false;
    }
  });
}
