// Settings of a command, from its flags and environment.
import { type Loaded, loadSettings } from "../foundation/config/index.ts";
import type { Invocation } from "./command.ts";
import type { FlagName } from "./flags.ts";
import type { Program } from "./program.ts";

const flagsOfSettings: FlagName[] = ["data", "config", "listen", "role", "tls-cert", "tls-key"];

export function settingsFor({ text }: Invocation, { variables, userHome, cwd, directory }: Program): Loaded {
  const flags = Object.fromEntries(flagsOfSettings.map((flag) => [flag, text(flag)]));
  return loadSettings({ flags, variables, userHome, cwd, programDirectory: directory });
}
