// The threads that a server has loaded, one line each.
import type { Thread } from "@agentcli/protocol/app-server";
import { openClient } from "../client/index.ts";
import { visible } from "../text/index.ts";
import type { TuiOptions } from "./state.ts";

export async function listThreads(options: Pick<TuiOptions, "connect" | "version" | "signal">): Promise<string[]> {
  const events = { notice() {}, asked() {}, reopened() {}, lost() {} };
  const client = await openClient({ ...options, clientName: "agentcli-tui", events });
  try {
    const { data } = await client.request("thread/loaded/list", {});
    const threads = await Promise.all(data.map((threadId) => client.request("thread/read", { threadId })));
    return threads.map(({ thread }) => lineOf(thread));
  } finally {
    client.close();
  }
}

function lineOf({ id, status, cwd, name, preview }: Thread): string {
  const waits = status.type === "active" && status.activeFlags.length > 0 ? "waiting for you" : status.type;
  return visible(`${id}  ${waits.padEnd(15)}  ${cwd}  ${(name || preview).split("\n")[0] ?? ""}`);
}
