// Frames of a run as text for people.
import { outcomeWords, type StreamFrame } from "@agentcli/protocol/api";

/** Lines that are whole. Texts of the agent and of its commands come in pieces; what follows them begins a new line. */
export function openRenderer(): (frame: StreamFrame) => string[] {
  let begun = "";
  const output = openOutput();
  const finish = (...lines: string[]): string[] => {
    const before = begun === "" ? [] : [begun];
    begun = "";
    return [...before, ...lines.map(visible)];
  };
  return (frame) => {
    switch (frame.event) {
      case "assistant": {
        const lines = `${begun}${visible(frame.data.text)}`.split("\n");
        begun = lines.pop() ?? "";
        return lines;
      }
      case "tool_call":
        if (frame.data.status !== "running") return output.end(frame.data.callId);
        return finish(`[${frame.data.name}] ${subjectOf(frame.data.args)}`.trimEnd());
      case "result":
        return finish(...describeResult(frame.data));
      case "error":
        return finish(`${frame.data.code}: ${frame.data.message}`);
      case "done":
        return finish();
      case "interaction_update":
        if (frame.data.type !== "shell-output-delta") return [];
        return [...finish(), ...output.add(frame.data.event.callId, frame.data.event.value.data)];
      case "status":
      case "thinking":
      case "heartbeat":
        return [];
    }
  };
}

/** Indented, so that it does not look like words of the agent. */
function openOutput() {
  const begun = new Map<string, string>();
  // A progress bar returns to the start of its line: its last state is left.
  const indented = (line: string): string => `  ${visible(line.replace(/\r$/, "").split("\r").at(-1) ?? "")}`.trimEnd();
  return {
    add(callId: string, text: string): string[] {
      const lines = `${begun.get(callId) ?? ""}${text}`.split("\n");
      begun.set(callId, lines.pop() ?? "");
      return lines.map(indented);
    },
    end(callId: string): string[] {
      const last = begun.get(callId) ?? "";
      begun.delete(callId);
      return last === "" ? [] : [indented(last)];
    },
  };
}

type Result = Extract<StreamFrame, { event: "result" }>["data"];

function describeResult({ status, durationMs, error, git }: Result): string[] {
  const time = durationMs === undefined ? "" : ` after ${(durationMs / 1000).toFixed(1)} s`;
  const why = error ? `: ${error.message}` : "";
  const made = (git?.branches ?? []).flatMap(({ branch, prUrl }) => prUrl ?? branch ?? []);
  return [`${outcomeWords[status]}${time}${why}`, ...made];
}

function subjectOf(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const { cmd, command, path, pattern } = args as Record<string, unknown>;
  const subject = [cmd, command, path, pattern].find((value) => typeof value === "string");
  return typeof subject === "string" ? (subject.split("\n", 1)[0] ?? "") : "";
}

/** What an agent says must not move the cursor or rename the window. */
const visible = (text: string): string => text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
