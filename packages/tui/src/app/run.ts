// From the first paint to the end: the display first, then the server, the thread, and the program that shows it.
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { openDisplay } from "../terminal/index.ts";
import { openStart } from "./start.ts";
import type { TuiOptions } from "./state.ts";

export async function runTui(options: TuiOptions): Promise<number> {
  const display = openDisplay(options.streams, options.variables);
  try {
    const start = openStart(display, options);
    // What is painted is on its way to the terminal before anything else is loaded.
    await new Promise((resolve) => setImmediate(resolve));
    const { runSession } = await import("./session.ts");
    await runSession({ display, options, start });
  } finally {
    display.close();
  }
  return exitCodes.completed.code;
}
