// Commands about automations and their firings.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const automationsCommands: Command[] = [
  {
    path: ["automations", "list"],
    takes: "",
    maxPositionals: 0,
    summary: "List the automations with their state and what fires next",
    flags: [...settingFlags, "json"],
    load: () => import("./list.ts"),
  },
  {
    path: ["automations", "show"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Show an automation as JSON",
    flags: settingFlags,
    load: () => import("./show.ts"),
  },
  {
    path: ["automations", "firings"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "List the firings of an automation, latest first: planned, started, skipped, missed, failed to start",
    flags: [...settingFlags, "json"],
    load: () => import("./firings.ts"),
  },
  {
    path: ["automations", "alerts"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "List firings of an automation that led to no good run, newest first",
    flags: [...settingFlags, "json"],
    load: () => import("./alerts.ts"),
  },
  {
    path: ["automations", "run"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Start a run of an automation on a running server",
    flags: settingFlags,
    load: () => import("./run.ts"),
  },
  {
    path: ["automations", "backtest"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Replay the latest events for an automation on a running server; its runs propose only, and reach nothing",
    flags: [...settingFlags, "last", "json"],
    load: () => import("./backtest.ts"),
  },
  {
    path: ["automations", "enable"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Enable an automation",
    flags: settingFlags,
    load: () => import("./enable.ts"),
  },
  {
    path: ["automations", "disable"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Disable an automation; what is planned is skipped",
    flags: settingFlags,
    load: () => import("./disable.ts"),
  },
];
