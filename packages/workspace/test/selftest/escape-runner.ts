// Runs the named escape attempts on one back end, or without a sandbox as a control, and prints the findings.
import type { BackEnd } from "../../src/sandbox/back-end.ts";
import { attempts } from "../../src/selftest/attempts/index.ts";
import { type AttemptResult, runSelftest } from "../../src/selftest/run.ts";

const [serverProgram = "", descriptorFile = "", backEnd = "", names = ""] = process.argv.slice(2);
const chosen = new Set(JSON.parse(names) as string[]);
const sandboxBackEnd = JSON.parse(backEnd) as BackEnd | null;
const options = {
  backEnd: sandboxBackEnd ?? undefined,
  serverProgram,
  descriptorFile,
  secret: process.env.AGENT_API_KEY ?? "",
  variables: process.env,
};
const findings: AttemptResult[] = [];
const selected = attempts.filter(({ name }) => chosen.has(name));
for await (const finding of runSelftest(options, selected)) findings.push(finding);
process.stdout.write(JSON.stringify(findings), () => process.exit(0));
