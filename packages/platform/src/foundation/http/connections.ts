// Limits the connections of one address: those that send no request are counted nowhere else, and each takes a descriptor.
import type { Server } from "node:http";
import { BlockList, type Socket } from "node:net";
import type { AdmissionLimits } from "./admission.ts";
import { connectionAddress } from "./client-address.ts";

export type ConnectionLimits = Pick<AdmissionLimits, "concurrentRequestsPerAddress" | "trustedProxies">;

export const noConnectionLimits: ConnectionLimits = {
  concurrentRequestsPerAddress: 0,
  trustedProxies: new BlockList(),
};

/** More than requests may be under way, so that one too many of those gets an answer. */
const spare = 100;
const perRequest = 2;

export function limitConnections(server: Server, limits: ConnectionLimits): void {
  const { concurrentRequestsPerAddress, trustedProxies } = limits;
  if (concurrentRequestsPerAddress === 0) return;
  const max = concurrentRequestsPerAddress * perRequest + spare;
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const address = connectionAddress(socket, trustedProxies);
    if (address === null) return;
    const count = open.get(address) ?? 0;
    if (count >= max) return void socket.destroy();
    open.set(address, count + 1);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}
