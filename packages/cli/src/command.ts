// A command of agentcli: what every command declares and what it is called with.
import type * as commandLine from "@agentcli/command-line";
import type { FlagName } from "./flags.ts";
import type { Program } from "./program.ts";

export type Command = commandLine.Command<FlagName, Program>;
export type Invocation = commandLine.Invocation<FlagName>;
