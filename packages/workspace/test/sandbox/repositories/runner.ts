// Plays every scenario on one back end, as the user that started it, and prints the results.
import type { BackEnd } from "../../../src/sandbox/back-end.ts";
import { configuredScenarios, linkScenarios, play, type ScenarioResult, scenarios } from "./scenarios.ts";

const [serverProgram = "", backEnd = "null"] = process.argv.slice(2);
const results: ScenarioResult[] = [];
for (const scenario of [...scenarios, ...configuredScenarios, ...linkScenarios])
  results.push(await play(scenario, serverProgram, JSON.parse(backEnd) as BackEnd));
process.stdout.write(JSON.stringify(results), () => process.exit(0));
