// Commands about the build caches of sandboxed commands.
import type { Command } from "../../command.ts";

export const cacheCommands: Command[] = [
  {
    path: ["cache", "size"],
    aliases: [["cache"]],
    takes: "[--json]",
    maxPositionals: 0,
    summary: "Show the build caches of projects and their sizes",
    flags: ["json"],
    load: () => import("./size.ts"),
  },
  {
    path: ["cache", "clear"],
    takes: "[DIR]",
    maxPositionals: 1,
    summary: "Remove build caches",
    flags: ["json"],
    load: () => import("./clear.ts"),
  },
];
