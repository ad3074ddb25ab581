// `platform serve`
import { once } from "node:events";
import { requireVariables } from "../../foundation/config/index.ts";
import { openPlatformContext } from "../../foundation/context.ts";
import { describeModel } from "../../runs/index.ts";
import { serve } from "../../serve.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  requireVariables(settings);
  const platform = await openPlatformContext(settings, program.log);
  const server = await serve(platform).catch(async (error) => {
    await platform.close();
    throw error;
  });
  program.print(`listening on ${server.url}\nmodel: ${describeModel(settings)}\n`);
  if (!program.signal.aborted) await once(program.signal, "abort");
  await server.stop();
  return 0;
}
