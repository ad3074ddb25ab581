// Hooks that the user trusts as they are now.
import { join } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { trustHooks } from "@agentcli/project/hooks";
import type { Program } from "../program.ts";
import type { ListedHook } from "./listed.ts";

export async function trustListed(hooks: ListedHook[], { environment }: Program): Promise<void> {
  if (hooks.length === 0) return;
  const definitions = hooks.map(({ definition }) => definition);
  await trustHooks(join(environment.agentHome, "config.toml"), definitions);
}

/** An agent could change what such hooks run. */
export function refuseUnpinned(hooks: ListedHook[]): void {
  const refused = hooks.flatMap(({ definition: { key, unpinned } }) =>
    unpinned === undefined ? [] : [`  ${key}: ${unpinned}`],
  );
  if (refused.length === 0) return;
  throw new CommandError(
    "usage",
    `Nothing was trusted: the files that these hooks run cannot be pinned, so an agent could change them.\n${refused.join("\n")}\nMove what they run into a script of its own, name the keys of the other hooks, or trust them with --unpinned.`,
  );
}
