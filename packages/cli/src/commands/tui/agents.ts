// `agentcli agents`: the threads of a server that several programs share.
import { CommandError } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { listThreads } from "@agentcli/tui";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { remoteConnection } from "../../tui/open.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const remote = invocation.text("remote") ?? "unix://";
  const { signal, version } = program;
  const connect = remoteConnection(remote, invocation, program);
  try {
    const threads = await listThreads({ connect, version, signal });
    await program.print(
      threads.length === 0 ? "No threads are loaded.\n" : threads.map((line) => `${line}\n`).join(""),
    );
    return exitCodes.completed.code;
  } catch (error) {
    if (remote !== "unix://") throw error;
    const start = "Start one: agentcli app-server --listen unix://";
    throw new CommandError("unavailable", `${(error as Error).message} ${start}`);
  }
}
