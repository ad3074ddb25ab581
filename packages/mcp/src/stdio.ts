// A server on the standard streams of a process, which runs wherever the workspace is.
import { setTimeout as delay } from "node:timers/promises";
import type { ExecResult, Workspace } from "@agentcli/protocol";
import type { Channel, ChannelEvents } from "./channel.ts";
import { serverEnvironment, type Variables } from "./environment.ts";
import type { Json } from "./json.ts";
import { longestLine, readLines } from "./lines.ts";
import type { StdioTransport } from "./settings.ts";

export interface StdioPlace {
  workspace: Workspace;
  /** Never given twice: the same id never means two processes. */
  processId: string;
  variables: Variables;
}

/** How long a server may take to end by itself once its input has ended. */
const graceMs = 200;
const none = new AbortController().signal;

export async function openStdio(
  transport: StdioTransport,
  { workspace, processId, variables }: StdioPlace,
  events: ChannelEvents,
): Promise<Channel> {
  const said = openTail();
  const kill = new AbortController();
  let isClosing = false;
  const lose = (reason: string) => {
    if (!isClosing) events.lost(reason);
  };
  const lines = readLines({
    line: (text) => parsed(text, events.message),
    tooLong() {
      lose(`it sent a message of more than ${longestLine} characters`);
      kill.abort();
    },
  });
  const start = {
    argv: [transport.command, ...transport.args],
    cwd: transport.cwd,
    env: serverEnvironment(transport, variables),
  };
  const ended = workspace
    .exec({ id: processId, start }, (chunk) => (chunk.stream === "stdout" ? lines : said).add(chunk.text), kill.signal)
    .then((result) => lose(describeEnd(result, said.text())))
    .catch((error: Error) => lose(error.message));

  const feed = async (request: { input: string } | { endInput: true }) => {
    // Output is read by the call above; this one only brings input.
    await workspace.exec({ id: processId, ...request, afterSeq: Number.MAX_SAFE_INTEGER, waitMs: 0 }, () => {}, none);
  };
  return {
    send: (message) => feed({ input: `${JSON.stringify(message)}\n` }),
    agreed: () => {},
    async close() {
      isClosing = true;
      await feed({ endInput: true }).catch(() => {
        // It is gone already, or its workspace is; the abort below settles both.
      });
      const late = new AbortController();
      await Promise.race([ended, delay(graceMs, undefined, { signal: late.signal }).catch(() => {})]);
      late.abort();
      kill.abort();
      await ended;
      // One that ended by itself may have left children behind.
      await workspace.release([processId]).catch(() => {});
    },
  };
}

/** Some servers print other things too; what is no JSON is not for us. */
function parsed(line: string, use: (value: Json) => void): void {
  let value: Json;
  try {
    value = JSON.parse(line);
  } catch {
    return;
  }
  use(value);
}

function describeEnd(result: ExecResult, said: string): string {
  const trace = said.trim() ? `: ${said.trim()}` : "";
  switch (result.state) {
    case "not-started":
    case "unknown":
      return result.message;
    case "exited":
      return `its process ended with exit code ${result.exitCode}${trace}`;
    case "running":
      return "its process was left alone";
  }
}

const keptCharacters = 2_000;

/** The last words of a server: the only hint at why it ended. */
function openTail(): { add(text: string): void; text(): string } {
  let kept = "";
  return {
    add(text) {
      kept = (kept + text).slice(-keptCharacters);
    },
    text: () => kept,
  };
}
