// Streams that break: every message once, in order, whatever the network does.
import fc from "fast-check";
import { expect, test } from "vitest";
import { AuthenticationError, ConfigurationError, UnsupportedRunOperationError } from "../src/errors.ts";
import type { SDKMessage } from "../src/messages.ts";
import type { Run } from "../src/run.ts";
import {
  type Answer,
  agentId,
  frame,
  json,
  problem,
  runId,
  runPath,
  type ScriptedPlatform,
  scriptedPlatform,
  sendEvents,
  wireRun,
} from "./scripted-platform.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);

const status = frame("status", { runId, status: "RUNNING" });
const textFrame = (text: string, id: string) =>
  frame("assistant", { text }, id) + frame("interaction_update", { type: "text-delta", text }, id);
const words = ["One ", "two ", "three ", "four."];
const groups = [
  frame("interaction_update", { type: "step-started", stepId: 1 }, "9-0"),
  ...words.map((word, index) => textFrame(word, `9-${index + 1}`)),
  frame("interaction_update", { type: "step-completed", stepId: 1, stepDurationMs: 5 }, "9-8"),
  frame("result", { runId, status: "FINISHED", text: words.join(""), durationMs: 7 }, "9-9") + frame("done", {}, "9-9"),
];
const ids = ["9-0", "9-1", "9-2", "9-3", "9-4", "9-8", "9-9"];

/** What the platform sends to a reader that continues after this id. */
const streamAfter = (id: string | undefined): string =>
  status + groups.slice(id === undefined ? 0 : ids.indexOf(id) + 1).join("");

const lastEventId = (headers: Record<string, unknown>): string | undefined =>
  headers["last-event-id"] as string | undefined;

async function follow(
  stream: Answer,
  read: Answer = json(wireRun()),
): Promise<{ run: Run; platform: ScriptedPlatform }> {
  const platform = await scriptedPlatform({ [`GET ${runPath}`]: read, [`GET ${runPath}/stream`]: stream });
  return { run: await platform.Agent.getRun(runId, { agentId }), platform };
}

async function collect(run: Run): Promise<SDKMessage[]> {
  const messages: SDKMessage[] = [];
  for await (const message of run.stream()) messages.push(message);
  return messages;
}

const textIn = (messages: SDKMessage[]): string =>
  messages.flatMap((one) => (one.type === "assistant" ? one.message.content.map(({ text }) => text) : [])).join("");

const statusesIn = (messages: SDKMessage[]): string[] =>
  messages.flatMap((one) => (one.type === "status" ? one.status : []));

test("wherever connections break, each message comes once", async () => {
  const cuts = fc.array(fc.nat({ max: 700 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(cuts, async (lengths) => {
      const { run } = await follow(({ headers }, response, count) => {
        const bytes = Buffer.from(streamAfter(lastEventId(headers)));
        const length = lengths[count];
        if (length === undefined) sendEvents(response, bytes);
        else sendEvents(response, bytes.subarray(0, length), "break");
      });
      const messages = await collect(run);
      expect(textIn(messages)).toBe(words.join(""));
      expect(statusesIn(messages)).toEqual(["RUNNING", "FINISHED"]);
      expect(run).toMatchObject({ status: "finished", result: words.join(""), durationMs: 7 });
    }),
    { numRuns: Math.ceil(numRuns / 4) },
  );
});

test("a cut between frames of one id goes on behind the id before, and leaves out what had come", async () => {
  const half = status + groups[0] + groups[1] + frame("assistant", { text: words[1] }, "9-2");
  const { run, platform } = await follow(({ headers }, response, count) =>
    count === 0 ? sendEvents(response, half, "break") : sendEvents(response, streamAfter(lastEventId(headers))),
  );
  expect(textIn(await collect(run))).toBe(words.join(""));
  expect(platform.asked.at(-1)?.headers["last-event-id"]).toBe("9-1");
});

test("a stream that stays away is tried again after 1, 2, 4, 8, 16 and 30 seconds, then the run is asked for", async () => {
  const { run, platform } = await follow(
    (_, response) => response.destroy(),
    (_, response, count) =>
      json(count < 9 ? wireRun() : wireRun({ status: "FINISHED", result: "Done." }))(_, response, 0),
  );
  const result = await run.wait();
  expect(result).toMatchObject({ status: "finished", result: "Done." });
  expect(platform.waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 15_000, 15_000]);
});

test("progress starts the waits anew", async () => {
  const { run, platform } = await follow(({ headers }, response, count) => {
    const text = streamAfter(lastEventId(headers));
    if (count < 4)
      sendEvents(response, count % 2 ? "" : text.slice(0, text.indexOf("\n\n", status.length + 120) + 2), "break");
    else sendEvents(response, text);
  });
  expect(textIn(await collect(run))).toBe(words.join(""));
  expect(platform.waits).toEqual([1_000, 2_000, 1_000, 2_000]);
});

test("frames sent while no connection was open come before the end", async () => {
  const { run, platform } = await follow(
    ({ headers }, response, count) =>
      count === 0
        ? sendEvents(response, status + groups[0] + groups[1], "break")
        : sendEvents(response, streamAfter(lastEventId(headers))),
    (_, response, count) => json(wireRun({ status: count === 0 ? "RUNNING" : "FINISHED" }))(_, response, 0),
  );
  expect(textIn(await collect(run))).toBe(words.join(""));
  expect(platform.waits).toEqual([]);
});

test("an id that is not known any more means from the start, and still nothing twice", async () => {
  const { run } = await follow(({ headers }, response, count) => {
    if (count === 0) return sendEvents(response, status + groups.slice(0, 4).join(""), "break");
    if (headers["last-event-id"]) return problem(400, "invalid_last_event_id")({} as never, response, 0);
    sendEvents(response, streamAfter(undefined));
  });
  expect(textIn(await collect(run))).toBe(words.join(""));
});

test("a stream that is no longer kept leaves the result, and no conversation", async () => {
  const ended = wireRun({ status: "ERROR", error: { message: "It broke.", code: "internal" } });
  const { run } = await follow(problem(410, "stream_expired"), json(ended));
  const messages = await collect(run);
  expect(statusesIn(messages)).toEqual(["ERROR"]);
  expect(messages.at(-1)).toMatchObject({ type: "status", message: "It broke." });
  expect(run.supports("conversation")).toBe(false);
  expect(run.unsupportedReason("conversation")).toContain("no longer kept");
  await expect(run.conversation()).rejects.toThrow(UnsupportedRunOperationError);
  expect(run.supports("wait")).toBe(true);
});

test("a permanent error of the stream is thrown, any other is a broken stream", async () => {
  const final = await follow((_, response) =>
    sendEvents(response, status + frame("error", { code: "unauthorized", message: "Key revoked." })),
  );
  await expect(collect(final.run)).rejects.toThrow(AuthenticationError);
  const passing = await follow(({ headers }, response, count) =>
    sendEvents(
      response,
      count === 0 ? frame("error", { code: "internal", message: "Oops." }) : streamAfter(lastEventId(headers)),
    ),
  );
  expect(textIn(await collect(passing.run))).toBe(words.join(""));
});

test("data that is not JSON is a broken stream, and unknown frames are skipped", async () => {
  const { run } = await follow(({ headers }, response, count) => {
    const odd = frame("news", { of: "tomorrow" }, "9-0") + frame("assistant", { words: 3 });
    const broken = "id: 9-5\nevent: assistant\ndata: {\n\n";
    sendEvents(response, count === 0 ? status + odd + broken : streamAfter(lastEventId(headers)));
  });
  expect(textIn(await collect(run))).toBe(words.join(""));
});

test("a run that is not there is an error at once", async () => {
  const { run, platform } = await follow(problem(404, "run_not_found"));
  await expect(run.wait()).rejects.toThrow(ConfigurationError);
  expect(platform.waits).toEqual([]);
});

test("waiting ends after two hours", async () => {
  const { run, platform } = await follow((_, response) => response.destroy());
  expect(await run.wait()).toMatchObject({
    status: "error",
    error: { message: "Timed out waiting for the cloud run to finish." },
  });
  expect(platform.waits.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(2 * 60 * 60_000);
});

test("changes of the status are reported until the listener is removed", async () => {
  const { run } = await follow(({ headers }, response) => sendEvents(response, streamAfter(lastEventId(headers))));
  const reported = new Promise((resolve) => run.onDidChangeStatus(resolve));
  const unwanted: string[] = [];
  run.onDidChangeStatus((changed) => unwanted.push(changed))();
  expect(await reported).toBe("finished");
  expect(unwanted).toEqual([]);
});

test("a reply that was given up is not in the conversation", async () => {
  const update = (data: object, id: string) => frame("interaction_update", data, id);
  const text =
    update(
      { type: "user-message-appended", userMessage: { type: "user_message", session_id: "s", text: "Hi" } },
      "1-1",
    ) +
    update({ type: "step-started", stepId: 1 }, "1-2") +
    update({ type: "text-delta", text: "Half an ans" }, "1-3") +
    update({ type: "step-started", stepId: 1 }, "1-4") +
    update({ type: "text-delta", text: "Hello." }, "1-5") +
    update({ type: "step-completed", stepId: 1, stepDurationMs: 1 }, "1-6") +
    frame("result", { runId, status: "FINISHED" }, "1-7");
  const { run } = await follow((_, response) => sendEvents(response, text));
  expect(await run.conversation()).toEqual([
    {
      type: "agentConversationTurn",
      turn: { userMessage: { text: "Hi" }, steps: [{ type: "assistantMessage", message: { text: "Hello." } }] },
    },
  ]);
});
