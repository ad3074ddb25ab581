// Which addresses are on the public internet, and not of this machine, its networks or its cloud.
import { BlockList, isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import { embeddedIPv4 } from "./hosts.ts";

/** Expects addresses in the shortest form, as hosts.ts gives them. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !privateIPv4.check(address);
  const behindGateway = embeddedIPv4(address, "64:ff9b::");
  if (behindGateway !== undefined) return isPublic(behindGateway);
  return globalIPv6.check(address, "ipv6") && !specialIPv6.check(address, "ipv6");
}

/** Also behind a gateway between IPv6 and IPv4, which may send it back. */
export function isOwn(address: string): boolean {
  const own = embeddedIPv4(address, "64:ff9b::") ?? address;
  return Object.values(networkInterfaces()).some((entries) => entries?.some((entry) => entry.address === own));
}

const privateIPv4 = blockList("ipv4", [
  "0.0.0.0/8", // this network
  "10.0.0.0/8",
  "100.64.0.0/10", // carriers; also one cloud's metadata
  "127.0.0.0/8",
  "168.63.129.16/32", // metadata of one cloud, in public space
  "169.254.0.0/16", // link-local, metadata of most clouds
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16",
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4", // multicast
  "240.0.0.0/4",
]);

const globalIPv6 = blockList("ipv6", ["2000::/3"]);

/** In the global range, but tunnels to IPv4 or unassigned. */
const specialIPv6 = blockList("ipv6", ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);

function blockList(family: "ipv4" | "ipv6", ranges: string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = "", bits] = range.split("/");
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}
