// `platform serve`
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { requireVariables, type Settings } from "../../foundation/config/index.ts";
import { openPlatformContext } from "../../foundation/context.ts";
import { isStorageFull, StorageFull } from "../../foundation/storage/index.ts";
import { describeModel } from "../../runs/index.ts";
import { type RunningServer, serve } from "../../serve.ts";
import { anchorEntries } from "../anchor.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";
import { refuseUnsafe } from "./unsafe.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  requireVariables(settings);
  refuseUnsafe(settings);
  const server = await Promise.race([start(settings, program), stoppedWhile(program.signal, settings)]);
  program.print(`listening on ${server.url}\nmodel: ${describeModel(settings)}\n`);
  if (!program.signal.aborted) await once(program.signal, "abort");
  await server.stop();
  return 0;
}

async function start(settings: Settings, program: Program): Promise<RunningServer> {
  const platform = await openPlatformContext(settings, program.log).catch((error: unknown) => {
    throw isStorageFull(error) ? new StorageFull(settings.dataDirectory, error) : error;
  });
  try {
    return await serve(platform);
  } catch (error) {
    // The first start has written entries: without an anchor now, no later server could prove them.
    await anchorEntries(platform, program);
    await platform.close();
    throw error;
  }
}

/** A start that waits for a database that hangs ends too, once it has had the time to end by itself. */
async function stoppedWhile(signal: AbortSignal, { stopTimeoutMs }: Settings): Promise<never> {
  if (!signal.aborted) await once(signal, "abort");
  await delay(stopTimeoutMs, undefined, { ref: false });
  throw signal.reason;
}
