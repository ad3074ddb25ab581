// `agentcli cache size`: each project's build cache, largest first, and all together.
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { listCaches } from "@agentcli/workspace";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { buildCaches } from "../../sandbox/build-caches.ts";
import { describeCaches, toJson } from "./text.ts";

export async function run({ has }: Invocation, { environment, print }: Program): Promise<number> {
  const caches = await listCaches(buildCaches(environment));
  await print(has("json") ? toJson(caches) : describeCaches(caches, "in all"));
  return exitCodes.completed.code;
}
