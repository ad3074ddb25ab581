// `agentcli hooks untrust`: these hooks do not run any more.
import { join } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { loadConfig, readHookStates } from "@agentcli/project";
import { untrustHooks } from "@agentcli/project/hooks";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { configRequest, existingDirectory } from "../../config/request.ts";
import { configOptions } from "../../config/run-options.ts";
import type { Program } from "../../program.ts";

/** Trust may outlive its hook, so the stored trust is listed, not the present hooks. */
export async function run(invocation: Invocation, { environment, reporter, print }: Program): Promise<number> {
  const cwd = existingDirectory(".", environment.cwd);
  const loaded = await loadConfig(configRequest(configOptions(invocation), cwd, environment));
  const trusted = [...readHookStates(loaded).keys()];
  const keys = invocation.has("all") ? trusted : invocation.positionals;
  if (keys.length === 0 && !invocation.has("all")) {
    throw new CommandError("usage", "No hook given. Pass its key, or --all. To list keys: agentcli hooks list");
  }
  const unknown = keys.find((key) => !trusted.includes(key));
  if (unknown !== undefined) throw new CommandError("usage", `No trust is recorded for ${unknown}.`);
  if (keys.length > 0) await untrustHooks(join(environment.agentHome, "config.toml"), keys);
  await print(keys.map((key) => `Not trusted any more: ${key}\n`).join(""));
  if (keys.length === 0) reporter.log("No hook was trusted.");
  return exitCodes.completed.code;
}
