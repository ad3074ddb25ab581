import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  call,
  eventually,
  freeform,
  jsonLines,
  killAtWrite,
  type Reply,
  replyWith,
  sampleOf,
  waitForExit,
} from "@agentcli/testkit";
import { type Harness, openHarness, sessionFiles } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";

const steps = 6;

/** Each step adds a line to a file, so that a repeated step shows. The model's replies depend only on its earlier calls. */
function sixTools(): Reply[] {
  const stepCall = (step: number): Reply => {
    const id = { callId: `call_step_${step}` };
    if (step === 3) {
      const patch = "*** Begin Patch\n*** Add File: patched.txt\n+patched\n*** End Patch";
      return { calls: [{ name: "apply_patch", arguments: patch, freeform: true, ...id }] };
    }
    return { calls: [{ name: "exec_command", arguments: { cmd: `echo step-${step} >> log.txt` }, ...id }] };
  };
  const after = (step: number, reply: Reply): Reply => ({ ...reply, when: { bodyIncludes: `"call_step_${step}"` } });
  const later = Array.from({ length: steps - 1 }, (_, index) => steps - 1 - index);
  return [after(steps, replyWith("Done.")), ...later.map((step) => after(step, stepCall(step + 1))), stepCall(1)];
}

const startHarness = () => openHarness({ replies: { replies: sixTools(), repeat: "always" } });
const start = ["exec", "-m", "gpt-5.4", "-s", "workspace-write", "do six things"];

interface Kill {
  at: number;
  when: "before" | "torn" | "after";
}

const killed = ({ run }: Harness, { at, when }: Kill) =>
  run(start, { nodeArguments: ["--require", killAtWrite], env: { KILL_AT: String(at), KILL_WHEN: when } });

/** What must hold after a resume, wherever the first run was killed. */
function expectExactlyOnce(harness: Harness): void {
  const records = harness.records().map(({ record }) => record);
  const log = readFileSync(join(harness.repository, "log.txt"), "utf8").trim().split("\n");
  expect(new Set(log).size, `done twice: ${log}`).toBe(log.length);
  const settled = records.filter((record) => record.type === "tool.settled");
  const calls = settled.map((record) => record.callId);
  expect(new Set(calls).size).toBe(calls.length);
  expect(calls).toHaveLength(steps);
  const unknown = settled.filter((record) => (record.outcome as { status: string }).status === "interrupted");
  const body = JSON.stringify(harness.requests().at(-1)?.body);
  expect(body.includes("The outcome of this call is unknown")).toBe(unknown.length > 0);
  expect(unknown.length).toBeLessThanOrEqual(1);
  // Every call whose outcome is not unknown happened exactly once.
  expect(log.length).toBeGreaterThanOrEqual(steps - 1 - unknown.length);
  expect(records.at(-1)).toMatchObject({ type: "turn.ended", end: { status: "completed", message: "Done." } });
  expect(harness.records().map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
}

describe("kill -9 at a write of the session file, then resume --last", () => {
  const writes = 1 + 3 * steps + 2;
  const all = Array.from({ length: writes }, (_, index) => index + 1).flatMap((at) =>
    (["before", "torn", "after"] as const).map((when): Kill => ({ at, when })),
  );
  // Three neighbouring points of a sample have every kind of kill: three does not divide the stride.
  const points = sampleOf(all, { every: 5 });

  test("an undisturbed run makes as many writes as the sweep covers", async () => {
    const tidy = await startHarness();
    const counted = join(tidy.home, "writes");
    const result = await tidy.run(start, { nodeArguments: ["--require", killAtWrite], env: { KILL_LOG: counted } });
    expect(result.stdout).toBe("Done.\n");
    expect(Number(readFileSync(counted, "utf8"))).toBe(writes);
  });

  test.each(points)(
    "killed $when write $at: the run finishes, nothing is done twice, unknown outcomes are reported",
    async (kill) => {
      const crashed = await startHarness();
      expect((await killed(crashed, kill)).signal).toBe("SIGKILL");
      if (kill.at === 1 && kill.when !== "after") {
        expect((await crashed.run(["exec", "resume", "--last"])).code).toBe(2);
        return;
      }
      const over = kill.at === writes && kill.when === "after";
      const resumed = await crashed.run(["exec", "resume", "--last"]);
      expect(resumed.code, resumed.stderr).toBe(over ? 2 : 0);
      if (!over) expect(resumed.stdout).toBe("Done.\n");
      expectExactlyOnce(crashed);
    },
  );
});

test("a command killed in the middle is not repeated, and the model learns that its outcome is unknown", async () => {
  const replies = [
    { ...replyWith("Checked."), when: { bodyIncludes: "outcome of this call is unknown" } },
    call("exec_command", { cmd: "echo begun >> log.txt; sleep 1000" }),
  ];
  const crashed = await openHarness({ replies: { replies, repeat: "always" } });
  const child = crashed.start(["exec", "-s", "workspace-write", "do it"]);
  await eventually(() => readOr(join(crashed.repository, "log.txt")) === "begun\n");
  child.kill("SIGKILL");
  await waitForExit(child);
  expect((await crashed.run(["exec", "resume", "--last"])).stdout).toBe("Checked.\n");
  expect(readFileSync(join(crashed.repository, "log.txt"), "utf8")).toBe("begun\n");
});

test("a follow-up after a crash closes the interrupted turn and starts a new one", async () => {
  const replies = [
    { ...replyWith("Second."), when: { bodyIncludes: "another way" } },
    freeform("apply_patch", "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch"),
  ];
  const crashed = await openHarness({ replies: { replies, repeat: "always" } });
  await crashed.run(["exec", "-m", "gpt-5.4", "-s", "workspace-write", "one way"], {
    nodeArguments: ["--require", killAtWrite],
    env: { KILL_AT: "3", KILL_WHEN: "after" },
  });
  const { code, events } = await crashed.events(["resume", "--last", "another way"]);
  expect(code).toBe(0);
  expect(events.map((event) => event.type)).toEqual([
    "thread.started",
    "turn.started",
    "item.completed",
    "turn.completed",
  ]);
  const ends = crashed.records().filter(({ record }) => record.type === "turn.ended");
  expect(ends.map(({ record }) => (record.end as { status: string }).status)).toEqual(["cancelled", "completed"]);
});

test("of two processes resuming one thread one finishes and the other stops with a clear error", async () => {
  const slow = { ...replyWith("Slowly done."), deltas: 20, deltaDelayMs: 50 };
  const shared = await openHarness({ replies: [replyWith("First."), slow, slow] });
  await shared.run(["exec", "hello"]);
  const results = await Promise.all(["a", "b"].map((name) => shared.run(["exec", "resume", "--last", name])));
  const [winner, loser] = results.sort((left, right) => Number(left.code) - Number(right.code));
  expect(winner).toMatchObject({ code: 0, stdout: "Slowly done.\n" });
  expect(loser?.code).toBe(2);
  expect(loser?.stderr).toMatch(/Thread [0-9a-f-]+ is being written by another process \(process \d+\)/);
  expect(jsonLines(readFileSync(shared.sessionFile(), "utf8"))).toHaveLength(9);
  expect(sessionFiles(shared.home)).toHaveLength(1);
});

function readOr(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
