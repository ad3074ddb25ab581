// Commands for recorded runs.
import type { Command } from "../../command.ts";

export const replayCommands: Command[] = [
  {
    path: ["replay"],
    takes: "FILE",
    maxPositionals: 1,
    summary: "Show a recorded run again, without network and key",
    flags: ["tools", "until", "model", "config", "cd", "json", "color", "output-last-message", "ephemeral"],
    load: () => import("./replay.ts"),
    notes: `Recorded with --record. Where the instructions, the tools or the model are not those of the recording,
the difference is named and the run is live from there: it asks the model, and works in the directory.

Examples:
  agentcli exec --record run.jsonl "fix the failing test"
  agentcli replay run.jsonl --json
  agentcli replay run.jsonl --model another-model`,
  },
];
