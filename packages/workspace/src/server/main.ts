// The program that serves a workspace on its standard streams: configuration on the first line, then frames.

import { closeSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { inheritedDescriptors } from "../descriptors/index.ts";
import { findMisplacedMount, misplacedMount } from "./mounts.ts";
import { openServer, type ServerConfig } from "./server.ts";
import { serveWorkspace } from "./stream.ts";

// Commands run in the same pid namespace: `pkill node` is meant for their own servers, not for this one.
process.title = "agent-workspace";
// Node would open a debugger, and with it this process, to any command that sends this signal.
process.on("SIGUSR1", () => {});
// Placeholders for descriptors the host inherited: commands must have only their three streams.
const listeners = (process.argv[2] ?? "").split(",").filter(Boolean).map(Number);
for (const descriptor of inheritedDescriptors()) if (!listeners.includes(descriptor)) closeSync(descriptor);
void main();

async function main(): Promise<void> {
  // process.stdout would block on a full pipe, and with it the abort that could empty it.
  const output = new Socket({ fd: 1, readable: false, writable: true });
  const config = JSON.parse(await readFirstLine(process.stdin)) as ServerConfig;
  const misplaced = findMisplacedMount(config.mounts ?? []);
  if (misplaced !== null) {
    process.stderr.write(`${misplacedMount}${misplaced}\n`);
    process.exit(1);
  }
  if (config.egress === "bridge") await (await import("../egress/index.ts")).openBridge(listeners);
  const workspace = openServer(config);
  const served = serveWorkspace(workspace, process.stdin, output);
  process.stdin.resume();
  await served;
  await workspace.close();
  process.exit(0);
}

/** The stream is paused then, with what follows. */
async function readFirstLine(readable: Readable): Promise<string> {
  let head = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const onData = (data: Buffer) => {
      head = Buffer.concat([head, data]);
      const end = head.indexOf(10);
      if (end < 0) return;
      readable.off("data", onData);
      readable.pause();
      if (end + 1 < head.length) readable.unshift(head.subarray(end + 1));
      resolve(head.subarray(0, end).toString("utf8"));
    };
    readable.on("data", onData);
    readable.on("end", () =>
      reject(new Error("Standard input ended before its first line, the configuration of the workspace server.")),
    );
  });
}
