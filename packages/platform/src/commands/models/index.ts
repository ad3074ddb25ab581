// Commands about the models that agents may use.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const modelsCommands: Command[] = [
  {
    path: ["models"],
    takes: "",
    maxPositionals: 0,
    summary: "Try each model with one request",
    flags: [...settingFlags, "json"],
    load: () => import("./try.ts"),
    notes: "Exit code 0 when each answers, 1 when one does not. Providers charge for the requests, a few tokens each.",
  },
];
