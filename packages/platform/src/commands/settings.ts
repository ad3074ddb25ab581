// Settings of a command, from its flags and surroundings.
import type { Invocation } from "../args.ts";
import { type Loaded, loadSettings } from "../config/index.ts";
import type { FlagName } from "../flags.ts";
import type { Program } from "../program.ts";

const known: FlagName[] = ["data", "config", "listen", "role", "tls-cert", "tls-key"];

export function settingsFor({ text }: Invocation, { variables, userHome, cwd, directory }: Program): Loaded {
  const flags = Object.fromEntries(known.map((flag) => [flag, text(flag)]));
  return loadSettings({ flags, variables, userHome, cwd, programDirectory: directory });
}
