// `platform keys rotate`
import { CommandError } from "@agentcli/command-line";
import type { Invocation } from "../command.ts";
import { readDurationMs } from "../duration.ts";
import { withPrincipals } from "../principals.ts";
import type { Program } from "../program.ts";
import { readKeyId } from "./revoke.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const id = readKeyId(invocation, "platform keys rotate ID");
  const overlapMs = readOverlap(invocation.text("overlap") ?? "24h");
  const { key } = await withPrincipals(invocation, program, (principals) => principals.rotateKey(id, overlapMs));
  program.print(`${key}\n`);
  return 0;
}

function readOverlap(text: string): number {
  const overlapMs = readDurationMs(text === "0" ? "0m" : text);
  if (overlapMs !== null) return overlapMs;
  throw new CommandError("usage", `Invalid --overlap ${text}: expected a duration such as 24h, 7d or 0.`);
}
