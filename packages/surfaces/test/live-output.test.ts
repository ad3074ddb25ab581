// Output of commands in the stream while they run: all of it, once, redacted, limited.
import { type Scrub, scrubber } from "@agentcli/engine";
import type { Outcome, ThreadRecord } from "@agentcli/protocol";
import { StreamFrame } from "@agentcli/protocol/api";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Frame, type FrameGroup, openFrameWriter, runStream } from "../src/run-stream/index.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);
const secret = "hunter2-hunter3";
const scrub = scrubber([{ name: "PASSWORD", value: secret }]);

const ended = (output: string, more: Partial<Extract<Outcome["detail"], { kind: "command" }>> = {}): Outcome => ({
  status: "completed",
  parts: [{ type: "text", text: output }],
  detail: { kind: "command", output, exitCode: 0, cursor: 1, durationMs: 5, ...more },
});

/** A run with one command that has begun; its call id is `1.0`. */
function openCommand(using: Scrub = scrub) {
  const stream = runStream(using);
  let seq = 0;
  const record = (one: ThreadRecord): FrameGroup[] =>
    stream.record({ seq: ++seq, at: new Date(seq * 1000).toISOString(), record: one });
  const usage = {
    ...{ inputTokens: 0, cachedInputTokens: 0, cacheWriteInputTokens: 0 },
    ...{ outputTokens: 0, reasoningOutputTokens: 0 },
  };
  const input = JSON.stringify({ cmd: "make" });
  const block = { type: "call", wireId: "c", name: "exec_command", form: "function", input } as const;
  record({ type: "model.replied", blocks: [block], usage, model: "m" });
  record({
    ...{ type: "tool.begun", callId: "1.0", name: "exec_command" },
    ...{ args: { cmd: "make" }, incarnation: "i", onResume: "once" },
  });
  return {
    print: (text: string, callId = "1.0") => stream.print({ type: "output", callId, text }),
    recall: (text: string, read?: string) => stream.recallOutput("1.0", text, read),
    shown: () => stream.printed(),
    settle: (outcome: Outcome, callId = "1.0") => record({ type: "tool.settled", callId, outcome }),
  };
}

const deltas = (groups: FrameGroup[]) =>
  groups.flat().flatMap(({ event, data }) => {
    if (event !== "interaction_update" || data.type !== "shell-output-delta") return [];
    return [{ callId: data.event.callId, text: data.event.value.data }];
  });

const textOf = (groups: FrameGroup[]): string =>
  deltas(groups)
    .map(({ text }) => text)
    .join("");

test("a secret that is split over deltas is redacted, and everything else is shown once", () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom(secret, secret.slice(0, 9), secret.slice(9), "\u{1f600}\n"));
  const printed = fc.tuple(fc.array(piece), fc.array(fc.nat(60)), fc.array(fc.boolean()));
  fc.assert(
    fc.property(printed, ([pieces, cuts, flushes]) => {
      const whole = pieces.join("");
      const command = openCommand();
      const groups: FrameGroup[] = [];
      let at = 0;
      for (const [index, length] of [...cuts, whole.length].entries()) {
        command.print(whole.slice(at, at + length));
        at += length;
        if (flushes[index] ?? true) groups.push(...command.shown());
      }
      groups.push(...command.settle(ended(scrub(whole))));
      expect(textOf(groups)).toBe(scrub(whole));
    }),
    { numRuns },
  );
});

test("the deltas of a command are between its two calls, and name its call", () => {
  const command = openCommand();
  command.print("one\n");
  const [live] = command.shown();
  expect(live).toEqual([
    {
      event: "interaction_update",
      data: { type: "shell-output-delta", event: { callId: "1.0", case: "stdout", value: { data: "one\n" } } },
    },
  ]);
  for (const frame of live ?? []) expect(StreamFrame.parse(frame)).toEqual(frame);
  command.print("end of hunter");
  const last = command.settle(ended("one\nend of hunter"));
  expect(last.map(([frame]) => frame?.event)).toEqual(["interaction_update", "tool_call"]);
  expect(textOf([...command.shown(), ...last])).toBe("end of hunter");
  expect(last.at(-1)?.[0]).toMatchObject({
    data: { status: "completed", result: { success: { stdout: "one\nend of hunter" } } },
  });
});

test("output of commands that run at the same time is one delta of each", () => {
  const command = openCommand();
  for (let round = 0; round < 100; round += 1) {
    command.print(`a${round} `, "1.0");
    command.print(`b${round} `, "1.1");
  }
  const shown = deltas(command.shown());
  expect(shown.map(({ callId }) => callId)).toEqual(["1.0", "1.1"]);
  expect(shown[1]?.text).toMatch(/^b0 b1 .*b99 $/);
});

test("a command in the background is shown to its end, by the calls that read it", () => {
  const command = openCommand();
  command.print(`started, ${secret.slice(0, 9)}`);
  const first = [...command.shown(), ...command.settle(ended("started", { exitCode: null, sessionId: 1000 }))];
  expect(textOf(first)).toBe("started, ");
  command.print(`${secret.slice(9)} and hunter`);
  const detail = { kind: "input", sessionId: 1000, output: "", cursor: 2, durationMs: 5 } as const;
  const settled = (running: boolean): Outcome => ({
    ...ended(""),
    detail: { ...detail, exitCode: running ? null : 0, running },
  });
  const second = [...command.shown(), ...command.settle(settled(true), "2.0")];
  expect(textOf(second)).toBe(`${scrub(secret)} and `);
  expect(textOf(command.settle(settled(false), "3.0"))).toBe("hunter");
});

test("a command that never stops printing fills no database, and says so once", () => {
  const command = openCommand();
  const groups: FrameGroup[] = [];
  for (let round = 0; round < 200; round += 1) {
    for (let count = 0; count < 10; count += 1) command.print("y\n".repeat(4096));
    groups.push(...command.shown());
  }
  groups.push(...command.settle(ended("y\n")));
  const texts = deltas(groups).map(({ text }) => text);
  const notices = texts.filter((text) => text.includes("Further output is not shown"));
  expect(notices).toEqual([texts.at(-1)]);
  expect(texts.slice(0, -1).join("")).toBe("y\n".repeat(512 * 1024));
  expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(32 * 1024);
});

test("a command that prints dots for ever has a limited number of frames", () => {
  const command = openCommand();
  let frames = 0;
  for (let round = 0; round < 10_000; round += 1) {
    command.print(".");
    frames += command.shown().length;
  }
  expect(frames).toBe(4_097);
});

test("a run with many commands has a limited output", () => {
  const command = openCommand();
  const groups: FrameGroup[] = [];
  for (let call = 0; call < 30; call += 1) {
    command.print("y".repeat(1024 * 1024), `9.${call}`);
    groups.push(...command.shown());
  }
  expect(textOf(groups).replaceAll(/[^y]/g, "").length).toBeLessThan(17 * 1024 * 1024);
  expect(deltas(groups).at(-1)).toEqual({ callId: "9.29", text: expect.stringContaining("Further output") });
});

test("many small pieces are stored as one frame, before the record that follows them", async () => {
  const stored: Frame[][] = [];
  const insert = async (frames: Frame[]) => void stored.push(frames);
  const frameWriter = openFrameWriter({
    ...{ threadId: "t", turnId: "r", bornAt: new Date(0), after: 0, scrub },
    ...{ insertDeltas: insert, publish() {}, onProblem: (error: unknown) => expect.fail(String(error)) },
  });
  for (let count = 0; count < 1_000; count += 1) frameWriter.progress({ type: "output", callId: "1.0", text: "x" });
  await expect.poll(() => stored.length).toBe(1);
  expect(stored[0]).toHaveLength(1);
  frameWriter.progress({ type: "output", callId: "1.0", text: "last" });
  await frameWriter.conclude([[{ event: "done", data: {} }]], insert);
  expect(stored[1]?.map(({ event, seq }) => [event, seq])).toEqual([
    ["interaction_update", 2],
    ["done", 3],
  ]);
});

test("a driver that goes on with a command shows what the one before it has not, wherever that stopped", () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom(secret, secret.slice(0, 9), secret.slice(9), "\u{1f600}\n"));
  fc.assert(
    fc.property(fc.array(piece), fc.nat(20), (pieces, stopAt) => {
      const whole = pieces.join("");
      const [first, second] = [openCommand(), openCommand()];
      for (const text of pieces.slice(0, stopAt)) first.print(text);
      const before = textOf(first.shown());
      second.recall(before);
      for (const text of pieces) second.print(text);
      const after = textOf([...second.shown(), ...second.settle(ended(whole))]);
      expect(before + after).toBe(scrub(whole));
    }),
    { numRuns },
  );
});

test("a driver that goes on with a command in the background begins after what calls have returned", () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom(secret, secret.slice(0, 9), "\u{1f600}\n"));
  fc.assert(
    fc.property(fc.array(piece), fc.nat(20), fc.nat(20), (pieces, readAt, more) => {
      const whole = pieces.join("");
      // A secret in two results would be in two texts: neither is one then.
      fc.pre(scrub(pieces.slice(0, readAt).join("")) + scrub(pieces.slice(readAt).join("")) === scrub(whole));
      const [first, second] = [openCommand(), openCommand()];
      for (const text of pieces.slice(0, readAt + more)) first.print(text);
      const before = textOf(first.shown());
      second.recall(before, scrub(pieces.slice(0, readAt).join("")));
      for (const text of pieces.slice(readAt)) second.print(text);
      const after = textOf([...second.shown(), ...second.settle(ended(whole))]);
      expect(before + after).toBe(scrub(whole));
    }),
    { numRuns },
  );
});

test("a command whose output was cut is not shown any further by the next driver", () => {
  const [first, second] = [openCommand(), openCommand()];
  const whole = "y\n".repeat(1024 * 1024);
  first.print(whole);
  second.recall(textOf(first.shown()));
  second.print(whole);
  expect(textOf([...second.shown(), ...second.settle(ended(whole))])).toBe("");
});
