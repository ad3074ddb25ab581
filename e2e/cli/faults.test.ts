// Faults of unattended runs, each with exec and resume, as JSON and as text: without SWEEP=full one of both each.
import {
  call,
  cut,
  eventually,
  expectNoProcesses,
  isFullSweep,
  jsonLines,
  type ProcessResult,
  processesIn,
  type Reply,
  replyWith,
  type Script,
  sampleOf,
  stall,
  waitForExit,
} from "@agentcli/testkit";
import { type Event, type Harness, openHarness, type RunOptions } from "@agentcli/testkit/cli";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exitCodes } from "../../packages/protocol/src/exit-codes.ts";

interface Fault {
  name: string;
  replies: Reply[] | Script;
  /** Lines for the provider's table, then any other tables. */
  config?: string;
  args?: string[];
  options?: RunOptions;
  exit: number;
  requests: number;
  /** Error code of turn.failed; absent for a completed turn. */
  code?: string;
}

const always = (reply: Reply): Script => ({ replies: [reply], repeat: "always" });
const few = "request_max_retries = 2\nstream_max_retries = 2\n";
const toolLoop: Script = {
  replies: [
    { ...replyWith("Spent."), when: { bodyIncludes: "budget of this run is spent" } },
    call("exec_command", { cmd: "true" }),
  ],
  repeat: "always",
};

const faults: Fault[] = [
  { name: "a normal answer", replies: always(replyWith("Fine.")), exit: 0, requests: 1 },
  { name: "an empty final message", replies: always({ messages: [""] }), exit: 0, requests: 1 },
  { name: "no message at all", replies: always({ messages: [] }), exit: 11, requests: 1, code: "empty" },
  { name: "HTTP 401", replies: always({ status: 401 }), config: few, exit: 3, requests: 1, code: "auth" },
  { name: "HTTP 403", replies: always({ status: 403 }), config: few, exit: 3, requests: 1, code: "auth" },
  { name: "HTTP 500", replies: always({ status: 500 }), config: few, exit: 4, requests: 3, code: "overloaded" },
  {
    name: "HTTP 429 with Retry-After",
    replies: always({ status: 429, headers: { "retry-after": "0" } }),
    config: few,
    exit: 4,
    requests: 3,
    code: "rate_limited",
  },
  {
    name: "a stream cut half way",
    replies: always(cut("half")),
    config: few,
    exit: 1,
    requests: 3,
    code: "stream_cut",
  },
  {
    name: "200 and then silence",
    replies: always(stall("after-headers")),
    config: `${few}[limits]\nidle = "500ms"\n`,
    exit: 6,
    requests: 3,
    code: "limit",
  },
  {
    name: "no answer at all",
    replies: always(stall("before-headers")),
    config: `${few}[limits]\nfirst-byte = "500ms"\n`,
    exit: 6,
    requests: 3,
    code: "limit",
  },
  {
    name: "silence in the middle of the answer",
    replies: always(stall(2)),
    config: `${few}[limits]\nidle = "500ms"\n`,
    exit: 6,
    requests: 3,
    code: "limit",
  },
  {
    name: "an endless tool loop under a budget",
    replies: toolLoop,
    args: ["--budget", "turns=5"],
    exit: 5,
    requests: 5,
    code: "budget",
  },
  {
    name: "a command that never ends",
    replies: always(call("exec_command", { cmd: "sleep 1000 & sleep 1000" })),
    config: '[limits]\nwall = "3s"\n',
    exit: 6,
    requests: 1,
    code: "limit",
  },
];

const isTerminal = ({ type }: Event) => type === "turn.completed" || type === "turn.failed";

/** For resume, a first turn runs with a reply of its own. */
async function runWithFault(
  fault: Fault,
  command: "exec" | "resume",
  flags: string[],
): Promise<ProcessResult & { harness: Harness; requests: number }> {
  const { replies, repeat } = Array.isArray(fault.replies)
    ? { replies: fault.replies, repeat: undefined }
    : fault.replies;
  // Only while the opening prompt is the newest message.
  const before = { ...replyWith("Opened."), when: { bodyIncludes: '"text":"the opening prompt"}]}]' } };
  const harness = await openHarness({ replies: { replies: [before, ...replies], repeat }, config: fault.config });
  // The short limits are for the fault alone: on a busy machine they would end the opening turn.
  const opening = ["exec", "--limit", "idle=1h,first-byte=1h,wall=1h", "the opening prompt"];
  if (command === "resume") expect((await harness.run(opening)).stdout).toBe("Opened.\n");
  const earlier = harness.requests().length;
  const words = command === "exec" ? ["exec"] : ["exec", "resume", "--last"];
  const result = await harness.run([...words, ...flags, ...(fault.args ?? []), "the prompt"], fault.options);
  return { ...result, harness, requests: harness.requests().length - earlier };
}

describe.each([
  ["exec", 0],
  ["resume", 1],
] as const)("%s", (command, shift) => {
  test.each(sampleOf(faults, { every: 2, shift }))("$name, for programs", async (fault) => {
    const { code, stdout, requests, harness } = await runWithFault(fault, command, ["--json"]);
    const events = jsonLines(stdout) as Event[];
    expect({ code, requests }).toEqual({ code: fault.exit, requests: fault.requests });
    expect(events.filter(isTerminal)).toHaveLength(1);
    const last = events.at(-1) as { type: string; error?: { code: string } };
    expect({ type: last.type, code: last.error?.code }).toEqual({
      type: fault.code ? "turn.failed" : "turn.completed",
      code: fault.code,
    });
    await expectNoProcesses(harness.repository);
  });

  test.each(sampleOf(faults, { every: 2, shift: shift + 1 }))("$name, for people", async (fault) => {
    const { code, stdout, stderr, requests, harness } = await runWithFault(fault, command, []);
    expect({ code, requests }).toEqual({ code: fault.exit, requests: fault.requests });
    if (fault.code) expect({ stdout, hasError: stderr.includes("ERROR:") }).toEqual({ stdout: "", hasError: true });
    expect(stderr).not.toMatch(/\n\s+at .+:\d+:\d+/);
    await expectNoProcesses(harness.repository);
  });
});

const signals = [
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGHUP", 129],
  ["SIGKILL", null],
] as const;

describe.each([
  ["read-only", 0],
  ["workspace-write", 1],
  ["danger-full-access", 2],
])("background children under %s", (mode, shift) => {
  test.each(sampleOf(signals, { every: 3, shift }))("are gone after %s", async (signal, exit) => {
    const command = "(setsid sleep 1001 &) ; sleep 1000 & sleep 1000";
    const harness = await openHarness({ replies: always(call("exec_command", { cmd: command })) });
    const child = harness.start(["exec", "--json", "-s", mode, "sleep"]);
    const result = waitForExit(child);
    await eventually(() => processesIn(harness.repository).filter((line) => line.includes("sleep 100")).length >= 3);
    child.kill(signal);
    expect((await result).code).toBe(exit);
    await expectNoProcesses(harness.repository);
  });
});

test("for any model output: one terminal event, valid lines, a documented exit code, a session that resumes", {
  timeout: 900_000,
}, async () => {
  const anyReply: fc.Arbitrary<Reply> = fc.oneof(
    fc.constantFrom<Reply>(replyWith("Fine."), { messages: [""] }, { messages: [] }, cut("half"), cut(1)),
    fc.constantFrom<Reply>(
      { status: 500 },
      { status: 429 },
      { status: 401 },
      { status: 418 },
      { garbage: "data: {\n\n" },
    ),
    fc.constantFrom<Reply>(
      { failed: { code: "server_error", message: "no" } },
      { messages: ["x"], incomplete: "max_output_tokens" },
    ),
    fc.constantFrom<Reply>(
      call("exec_command", { cmd: "exit 3" }),
      call("nonsense", {}),
      call("apply_patch", "{"),
      call("write_stdin", { session_id: 7 }),
    ),
    fc.string().map((text): Reply => call("exec_command", text)),
  );
  const codes = new Set<number>(Object.values(exitCodes).map(({ code }) => code));
  await fc.assert(
    fc.asyncProperty(fc.array(anyReply, { minLength: 1, maxLength: 4 }), async (replies) => {
      const last = { ...replyWith("Resumed."), when: { bodyIncludes: "are you there" } };
      const config = "request_max_retries = 1\nstream_max_retries = 1\n";
      const harness = await openHarness({
        replies: { replies: [last, ...replies, replyWith("At last.")], repeat: "last" },
        config,
      });
      const { code, stdout } = await harness.run(["exec", "--json", "--budget", "turns=6", "begin"]);
      expect((jsonLines(stdout) as Event[]).filter(isTerminal)).toHaveLength(1);
      expect(codes).toContain(code);
      const resumed = await harness.run(["exec", "resume", "--last", "are you there"]);
      expect(resumed).toMatchObject({ code: 0, stdout: "Resumed.\n" });
    }),
    { numRuns: isFullSweep ? 200 : 8 },
  );
});
