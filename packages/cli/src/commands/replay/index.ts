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
  },
];
