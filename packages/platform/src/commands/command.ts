// The types of a command of `platform`.
import type * as commandLine from "@agentcli/command-line";
import type { FlagName } from "./flags.ts";
import type { Program } from "./program.ts";

export type Command = commandLine.Command<FlagName, Program>;
export type Invocation = commandLine.Invocation<FlagName>;
