// Commands about the machines of agents on this host.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const machinesCommands: Command[] = [
  {
    path: ["machines", "list"],
    takes: "",
    maxPositionals: 0,
    summary: "List the machines of agents on this host",
    flags: [...settingFlags, "json"],
    load: () => import("./list.ts"),
  },
  {
    path: ["machines", "stop"],
    takes: "ID",
    maxPositionals: 1,
    summary: "Kill everything in a machine; its disk stays",
    flags: settingFlags,
    load: () => import("./stop.ts"),
    notes: "A run that uses the machine ends with the error machine_lost. The next run of the agent starts it again.",
  },
];
