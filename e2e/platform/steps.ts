// A run of four steps, each of which adds a line to a file: a repeated step shows, and so does a lost one.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Reply, replyWith } from "@agentcli/testkit";
import type { RunIds, StreamFrame, TestDatabase } from "@agentcli/testkit/platform";
import { expect } from "vitest";

export const stepCount = 4;

/** `then`: what each step does after it has added its line. */
export function stepsScript(then: (step: number) => string): Reply[] {
  const step = (number: number): Reply => ({
    calls: [
      {
        name: "exec_command",
        arguments: { cmd: `echo step ${number} >> steps.txt; ${then(number)}; cat steps.txt`, yield_time_ms: 30_000 },
        callId: `call_step_${number}`,
      },
    ],
  });
  const after = (number: number, reply: Reply): Reply => ({
    ...reply,
    when: { bodyIncludes: `"call_step_${number}"` },
  });
  const later = Array.from({ length: stepCount - 1 }, (_, index) =>
    after(stepCount - 1 - index, step(stepCount - index)),
  );
  return [after(stepCount, replyWith("All done.", { deltas: 5, deltaDelayMs: 10 })), ...later, step(1)];
}

/** For `then` of one step: waits in the workspace until the test has opened the gate, or until it is ended with its server. */
export const waitAtGate = "for look in $(seq 1000); do [ -e /workspace/gate ] && break; sleep 0.1; done";

/** Opens it for runs without a repository, wherever their files are. */
export async function openGates({ query }: TestDatabase, data: string[], runs: RunIds[]): Promise<void> {
  const ids = runs.map(({ agentId }) => agentId);
  const agents = await query<{ directory: string }>("select directory from agents where id = any($1)", [ids]);
  for (const { directory } of agents)
    for (const each of data) {
      const workspace = join(each, "workspaces", directory);
      if (existsSync(workspace)) writeFileSync(join(workspace, "gate"), "");
    }
}

export const storedFrames = ({ query }: TestDatabase, { runId }: RunIds) =>
  query<{ event_id: string; event: string }>("select event_id, event from frames where run_id = $1 order by seq", [
    runId,
  ]);

export const settledIn = (frames: StreamFrame[]): StreamFrame[] =>
  frames.filter(({ event, data }) => event === "tool_call" && data.status !== "running");

export const stdoutOf = (frame: StreamFrame | undefined): string[] =>
  ((frame?.data.result as { success?: { stdout?: string } } | undefined)?.success?.stdout ?? "").trim().split("\n");

export interface StepsOutcome {
  /** Of the file, as the last step with a known outcome saw it. */
  lines: string[];
  /** How many steps have an unknown outcome: their lines may be missing. */
  unknown: number;
}

/** The client has read what is stored, each step was settled once, and its line is there once. */
export async function expectExactlyOnce(
  database: TestDatabase,
  ids: RunIds,
  frames: StreamFrame[],
): Promise<StepsOutcome> {
  expect(frames.at(-1)?.event).toBe("done");
  expect(frames.map(({ id, event }) => [id, event])).toEqual(
    (await storedFrames(database, ids)).map(({ event_id, event }) => [event_id, event]),
  );
  const settled = settledIn(frames);
  expect(settled.map(({ data }) => data.callId)).toEqual([...new Set(settled.map(({ data }) => data.callId))]);
  expect(settled).toHaveLength(stepCount);
  const all = Array.from({ length: stepCount }, (_, index) => `step ${index + 1}`);
  const isUnknown = (index: number) => JSON.stringify(settled[index]).includes("outcome of this call is unknown");
  const known = all.filter((_, index) => !isUnknown(index));
  const lines = known.length === 0 ? [] : stdoutOf(settled.findLast((_, index) => !isUnknown(index)));
  expect(lines).toEqual(all.filter((line) => lines.includes(line)));
  expect(lines).toEqual(expect.arrayContaining(known));
  return { lines, unknown: stepCount - known.length };
}
