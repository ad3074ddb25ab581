// Commands about environments and their builds.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const envCommands: Command[] = [
  {
    path: ["env", "list"],
    takes: "[NAME]",
    maxPositionals: 1,
    summary: "List the environments, or the builds of one, newest first; * marks the active build",
    flags: [...settingFlags, "json"],
    load: () => import("./list.ts"),
  },
  {
    path: ["env", "build"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Build an environment on a running server, show the log, and make the result active",
    flags: settingFlags,
    load: () => import("./build.ts"),
  },
  {
    path: ["env", "logs"],
    takes: "BUILD",
    maxPositionals: 1,
    summary: "Show the log of a build, until it has ended",
    flags: settingFlags,
    load: () => import("./logs.ts"),
  },
  {
    path: ["env", "activate"],
    takes: "BUILD",
    maxPositionals: 1,
    summary: "Make new agents start from a build that succeeded",
    flags: settingFlags,
    load: () => import("./activate.ts"),
  },
  {
    path: ["env", "diff"],
    takes: "BUILD BUILD",
    maxPositionals: 2,
    summary: "Compare the disks of two builds: packages, files, sizes",
    flags: [...settingFlags, "json"],
    load: () => import("./diff.ts"),
  },
  {
    path: ["env", "verify"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Build an environment again as a draft and compare the result with the active build",
    flags: settingFlags,
    load: () => import("./verify.ts"),
  },
];
