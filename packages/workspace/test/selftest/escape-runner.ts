// Runs every escape attempt on one back end, or without a sandbox as a control, and prints the findings.
import type { BackEnd } from "../../src/sandbox/back-end.ts";
import { attempts } from "../../src/selftest/attempts/index.ts";
import { type AttemptResult, runSelftest } from "../../src/selftest/run.ts";

const [serverProgram = "", descriptorFile = "", backEnd = ""] = process.argv.slice(2);
const isRoot = process.geteuid?.() === 0;
const controlAttempts = attempts.filter(
  ({ control }) => control === "harmless" || (control === "harmless-as-root" && isRoot),
);
const sandboxBackEnd = JSON.parse(backEnd) as BackEnd | null;
const options = {
  backEnd: sandboxBackEnd ?? undefined,
  serverProgram,
  descriptorFile,
  secret: process.env.AGENT_API_KEY ?? "",
  variables: process.env,
};
const findings: AttemptResult[] = [];
for await (const finding of runSelftest(options, sandboxBackEnd === null ? controlAttempts : attempts))
  findings.push(finding);
process.stdout.write(JSON.stringify(findings), () => process.exit(0));
