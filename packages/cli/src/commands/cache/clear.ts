// `agentcli cache clear`: removes the build cache of one project, or all of them.
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { clearCaches } from "@agentcli/workspace";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { buildCaches } from "../../sandbox/build-caches.ts";
import { describeCaches, toJson } from "./text.ts";

export async function run({ has, positionals }: Invocation, { environment, print }: Program): Promise<number> {
  const [directory] = positionals;
  const project = directory === undefined ? undefined : realPath(resolve(environment.cwd, directory));
  const removed = await clearCaches(buildCaches(environment), project);
  await print(has("json") ? toJson(removed) : describeCaches(removed, "removed"));
  return exitCodes.completed.code;
}

/** The workspace itself may be gone. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
