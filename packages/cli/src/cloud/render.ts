// Frames of a run as text for people.
import { outcomeWords, type StreamFrame } from "@agentcli/protocol/api";

/** Lines that are whole. Texts of the agent come in pieces; what follows them begins a new line. */
export function openRenderer(): (frame: StreamFrame) => string[] {
  let begun = "";
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
        if (frame.data.status !== "running") return [];
        return finish(`[${frame.data.name}] ${subjectOf(frame.data.args)}`.trimEnd());
      case "result":
        return finish(...describeResult(frame.data));
      case "error":
        return finish(`${frame.data.code}: ${frame.data.message}`);
      case "done":
        return finish();
      case "status":
      case "thinking":
      case "interaction_update":
      case "heartbeat":
        return [];
    }
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
