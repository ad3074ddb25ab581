// Who is at the other end of a connection, where the kernel's table no longer has it.
import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { identifyPeer } from "../../src/sandbox/local-peer.ts";

const gone = { localPort: 1, remotePort: 1 };
const ownAddresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);

test("a peer of a loopback address is of this machine, whatever address it has bound", async () => {
  for (const localAddress of ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
    expect(await identifyPeer({ ...gone, localAddress, remoteAddress: "203.0.113.9" })).toBe("unidentified");
});

test("a peer with an address of this machine is not taken for another machine", async () => {
  for (const { address } of ownAddresses.filter(({ scopeid = 0 }) => scopeid === 0))
    expect(await identifyPeer({ ...gone, localAddress: "198.51.100.1", remoteAddress: address })).toBe("unidentified");
});

test("a peer with an address that this machine does not have is another machine", async () => {
  expect(await identifyPeer({ ...gone, localAddress: "198.51.100.1", remoteAddress: "203.0.113.9" })).toBe(
    "unconfined",
  );
});
