// In a machine: runs one process for the other end of its standard streams.
import { Socket } from "node:net";
import { Duplex } from "node:stream";
import { serveProcess } from "./index.ts";

void main();

async function main(): Promise<void> {
  // process.stdout would block on a full pipe.
  const output = new Socket({ fd: 1, readable: false, writable: true });
  await serveProcess(Duplex.from({ readable: process.stdin, writable: output }));
  process.exit(0);
}
