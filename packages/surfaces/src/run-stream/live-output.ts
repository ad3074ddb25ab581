// Output of commands while they run, as frames: redacted across chunks, and limited per command and per run.
import type { Scrub } from "@agentcli/engine";
import type { RecordOf } from "@agentcli/protocol";
import { type StreamedText, streamedText } from "../streamed.ts";
import { type FrameGroup, update } from "./frames.ts";

export interface LiveOutput {
  /** Adds what the command of a call printed. */
  add(callId: string, text: string): void;
  /**
   * An earlier driver has shown this of a command that may go on: it is not shown again when its output is replayed. The
   * replay begins after `read`, what calls that have settled have returned.
   */
  recall(callId: string, shown: string, read?: string): void;
  /** Frames of what was added since the last call. */
  take(): FrameGroup[];
  /** The last frames of a command that has ended with this outcome; none while it runs in the background. */
  settle(record: RecordOf<"tool.settled">): FrameGroup[];
  /** The turn is over. */
  clear(): void;
}

const maxCommandLength = 1024 * 1024;
const maxRunLength = 16 * 1024 * 1024;
/** A frame counts as at least so many characters: a command that prints dots must not fill the database either. */
const minFrameCost = 256;

export const cutNotice =
  "\n[Further output is not shown while the command runs. The result has the beginning and the end.]\n";

interface Printed {
  /** Received and not in a frame yet. */
  waiting: string[];
  waitingLength: number;
  text: StreamedText;
  /** Characters at the beginning that an earlier driver has shown. */
  known: number;
  /** Characters that may still be shown. */
  left: number;
  cut: "no" | "unannounced" | "announced";
}

export function liveOutput(scrub: Scrub): LiveOutput {
  const commands = new Map<string, Printed>();
  const sessions = new Map<number, string>();
  let leftOfRun = maxRunLength;

  function show(callId: string, printed: Printed, text: string): FrameGroup[] {
    const pieces = piecesOf(text.slice(printed.known));
    printed.known = Math.max(0, printed.known - text.length);
    for (const piece of pieces) {
      const cost = Math.max(minFrameCost, piece.length);
      printed.left -= cost;
      leftOfRun -= cost;
    }
    if (printed.cut === "unannounced") {
      printed.cut = "announced";
      pieces.push(cutNotice);
    }
    return pieces.map((data) => [outputDelta(callId, data)]);
  }

  return {
    add(callId, text) {
      const printed = commands.get(callId) ?? newCommand(scrub);
      commands.set(callId, printed);
      receive(printed, text, Math.min(printed.left, leftOfRun) + printed.known);
    },
    recall(callId, shown, read = "") {
      const printed = newCommand(scrub);
      printed.known = Math.max(0, shown.length - read.length);
      printed.left -= shown.length;
      leftOfRun -= shown.length;
      if (shown.endsWith(cutNotice)) printed.cut = "announced";
      // Held back as the possible beginning of a secret.
      receive(printed, read.slice(shown.length), Math.min(printed.left, leftOfRun));
      commands.set(callId, printed);
    },
    take: () => [...commands].flatMap(([callId, printed]) => show(callId, printed, release(printed))),
    settle(record) {
      const callId = endedCommand(record, sessions);
      const printed = commands.get(callId ?? "");
      if (callId === undefined || !printed) return [];
      commands.delete(callId);
      const ready = release(printed);
      // What was held back as the possible beginning of a secret is none, unless its rest was cut off.
      const rest = printed.cut === "no" ? printed.text.rest(printed.text.everything()) : "";
      return show(callId, printed, ready + rest);
    },
    clear() {
      commands.clear();
      sessions.clear();
    },
  };
}

const newCommand = (scrub: Scrub): Printed => ({
  waiting: [],
  waitingLength: 0,
  text: streamedText(scrub),
  known: 0,
  left: maxCommandLength,
  cut: "no",
});

function receive(printed: Printed, text: string, left: number): void {
  if (printed.cut !== "no" || text === "") return;
  const room = Math.max(0, left - printed.waitingLength);
  // Not in the middle of a surrogate pair.
  const part = text.length <= room ? text : text.slice(0, room).replace(/[\ud800-\udbff]$/, "");
  if (part !== text) printed.cut = "unannounced";
  printed.waiting.push(part);
  printed.waitingLength += part.length;
}

function release(printed: Printed): string {
  const text = printed.waiting.join("");
  printed.waiting = [];
  printed.waitingLength = 0;
  return text === "" ? "" : printed.text.add(text);
}

/** By code points: readers of other languages cannot join halves of a pair. */
const piecesOf = (text: string): string[] => text.match(/.{1,16384}/gsu) ?? [];

const outputDelta = (callId: string, data: string) =>
  update({ type: "shell-output-delta", event: { callId, case: "stdout", value: { data } } });

/** A command in the background ends with the call that reads its last output. */
function endedCommand(
  { callId, outcome: { detail } }: RecordOf<"tool.settled">,
  sessions: Map<number, string>,
): string | undefined {
  if (detail.kind === "input") return detail.running ? undefined : sessions.get(detail.sessionId);
  if (detail.kind !== "command" || detail.sessionId === undefined) return callId;
  sessions.set(detail.sessionId, callId);
  return undefined;
}
