// What the kernel has counted in the network namespace of this process.
import { existsSync, readFileSync } from "node:fs";

/** Packets of both versions that were sent, or for which there was no way. */
export function countPackets(): number {
  const [names = "", values = ""] = linesOf("/proc/net/snmp").filter((line) => line.startsWith("Ip: "));
  const counts = values.split(" ");
  const four = names.split(" ").map((name, index) => [name, counts[index] ?? "0"]);
  const six = linesOf("/proc/net/snmp6").map((line) => line.split(/\s+/));
  return [...four, ...six]
    .filter(([name = ""]) => /^(?:Ip6)?Out(?:Requests|NoRoutes)$/.test(name))
    .reduce((total, [, count]) => total + Number(count), 0);
}

/** None where the kernel has no such protocol. */
const linesOf = (path: string): string[] => (existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []);
