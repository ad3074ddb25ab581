// A server on the standard streams of a process in a workspace.
import { setTimeout as delay } from "node:timers/promises";
import type { ExecResult, Workspace } from "@agentcli/protocol";
import type { Json } from "../json.ts";
import type { StdioTransport } from "../settings.ts";
import type { Channel, ChannelEvents } from "./channel.ts";
import { serverEnvironment, type Variables } from "./environment.ts";
import { maxLineLength, readLines } from "./lines.ts";

export interface StdioOptions {
  workspace: Workspace;
  /** Unique: the same id never means two processes. */
  processId: string;
  variables: Variables;
}

/** How long a server may take to exit after its input has ended. */
const graceMs = 200;
const none = new AbortController().signal;

export async function openStdio(
  transport: StdioTransport,
  { workspace, processId, variables }: StdioOptions,
  events: ChannelEvents,
): Promise<Channel> {
  const stderr = openTail();
  const kill = new AbortController();
  let isClosing = false;
  const lose = (reason: string) => {
    if (!isClosing) events.lost(reason);
  };
  const lines = readLines({
    line: (text) => parseMessage(text, events.message),
    tooLong() {
      lose(`it sent a message of more than ${maxLineLength} characters`);
      kill.abort();
    },
  });
  const start = {
    argv: [transport.command, ...transport.args],
    cwd: transport.cwd,
    env: serverEnvironment(transport, variables),
  };
  const ended = workspace
    .exec(
      { id: processId, start },
      (chunk) => (chunk.stream === "stdout" ? lines : stderr).add(chunk.text),
      kill.signal,
    )
    .then((result) => lose(describeEnd(result, stderr.text())))
    .catch((error: Error) => lose(error.message));

  const feed = async (request: { input: string } | { endInput: true }) => {
    // Output is read by the call above; this one only writes input.
    await workspace.exec({ id: processId, ...request, afterSeq: Number.MAX_SAFE_INTEGER, waitMs: 0 }, () => {}, none);
  };
  return {
    send: (message) => feed({ input: `${JSON.stringify(message)}\n` }),
    setProtocolVersion: () => {},
    async close() {
      isClosing = true;
      await feed({ endInput: true }).catch(() => {
        // The process or its workspace is gone already; the abort below handles both.
      });
      const late = new AbortController();
      await Promise.race([ended, delay(graceMs, undefined, { signal: late.signal }).catch(() => {})]);
      late.abort();
      kill.abort();
      await ended;
      // A process that exited may have left children behind.
      await workspace.release([processId]).catch(() => {});
    },
  };
}

/** Some servers print other output too: lines that are not JSON are skipped. */
function parseMessage(line: string, use: (value: Json) => void): void {
  let value: Json;
  try {
    value = JSON.parse(line);
  } catch {
    return;
  }
  use(value);
}

function describeEnd(result: ExecResult, stderr: string): string {
  const trace = stderr.trim() ? `: ${stderr.trim()}` : "";
  switch (result.state) {
    case "not-started":
    case "unknown":
      return result.message;
    case "exited":
      return `its process ended with exit code ${result.exitCode}${trace}`;
    case "running":
      return "its process is still running";
  }
}

const maxTailCharacters = 2_000;

/** The end of stderr: the only hint at why a server exited. */
function openTail(): { add(text: string): void; text(): string } {
  let kept = "";
  return {
    add(text) {
      kept = (kept + text).slice(-maxTailCharacters);
    },
    text: () => kept,
  };
}
