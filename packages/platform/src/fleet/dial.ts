// Connections to ports of a sandbox on a worker.
import { type Duplex, duplexPair } from "node:stream";
import type { WorkerRequest } from "@agentcli/protocol/worker-link";
import type { Caller } from "./calls.ts";

/** Usable at once; closed if nothing listens there. */
export function dialThrough(call: Caller, request: WorkerRequest<"sandbox.dial">): Duplex {
  const [near, far] = duplexPair();
  const end = () => void near.destroy();
  near.on("error", () => {}).on("close", () => far.destroy());
  far.on("error", end);
  void call.streaming("sandbox.dial", request).then((remote) => {
    if (near.destroyed) return void remote.destroy();
    near.on("close", () => remote.destroy());
    remote.on("error", end).on("close", () => remote.readableEnded || end());
    far.pipe(remote).pipe(far);
  }, end);
  return near;
}
