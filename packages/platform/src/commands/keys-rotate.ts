// `platform keys rotate`
import type { Invocation } from "../args.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { readDurationMs } from "./duration.ts";
import { readKeyId } from "./keys-revoke.ts";
import { withPrincipals } from "./principals.ts";

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
  throw new UsageProblem(`--overlap ${text} is no duration. Give one such as 24h, 7d or 0.`);
}
