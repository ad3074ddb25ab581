// Follows a run to its end. A dropped connection is reopened and resumes at the last event.
import { setTimeout as pause } from "node:timers/promises";
import { CommandError } from "@agentcli/command-line";
import { openSse } from "@agentcli/models/sse";
import type { StreamFrame } from "@agentcli/protocol/api";
import type { Access } from "./access.ts";
import { open } from "./http.ts";

export type Follower = (frame: StreamFrame) => Promise<void>;

export interface FollowOptions {
  access: Access;
  path: string;
  take: Follower;
}

const maxAttempts = 6;
const firstPauseMs = 250;

export async function followRun(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const position: Position = { lastEventId: "" };
  for (let failures = 0; failures < maxAttempts; ) {
    const before = position.lastEventId;
    const result = await readOnce(options, position, signal);
    if (result.kind === "ended") return;
    failures = position.lastEventId === before ? failures + 1 : 1;
    if (failures === maxAttempts) throw result.problem;
    await pause(firstPauseMs * 2 ** failures, undefined, { signal }).catch(() => {
      throw interrupted();
    });
  }
}

interface Position {
  lastEventId: string;
}

type ReadResult = { kind: "ended" } | { kind: "cut"; problem: CommandError };

async function readOnce(options: FollowOptions, position: Position, signal: AbortSignal): Promise<ReadResult> {
  try {
    if (await readFrames(options, position, signal)) return { kind: "ended" };
    return { kind: "cut", problem: new CommandError("unavailable", "The platform keeps closing the stream.") };
  } catch (error) {
    if (signal.aborted) throw interrupted();
    const problem = error instanceof CommandError ? error : new CommandError("unavailable", (error as Error).message);
    if (problem.exit !== "unavailable") throw problem;
    return { kind: "cut", problem };
  }
}

const interrupted = (): CommandError =>
  new CommandError("failed", "Interrupted. The agent keeps running; follow it with: agentcli cloud logs");

/** Whether the run has ended; where not, the stream broke off. */
async function readFrames(
  { access, path, take }: FollowOptions,
  position: Position,
  signal: AbortSignal,
): Promise<boolean> {
  const headers = position.lastEventId ? { "last-event-id": position.lastEventId } : undefined;
  const answer = await open(access, { method: "GET", path, ...(headers && { headers }) }, signal);
  const arrived: { frame: StreamFrame; id: string }[] = [];
  const parser = openSse((data, event, id) => {
    arrived.push({ frame: { event, data: JSON.parse(data) } as StreamFrame, id });
  });
  for await (const piece of answer) {
    parser.push(piece);
    for (const { frame, id } of arrived.splice(0)) {
      await take(frame);
      if (id) position.lastEventId = id;
      if (frame.event === "done") return true;
    }
  }
  return false;
}
