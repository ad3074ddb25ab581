// `agentcli eval`: runs test cases against real models, several times each.
import { CommandError } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Case } from "../../cases/case.ts";
import { openEvalBudget } from "../../cases/eval-budget.ts";
import { type EvalResult, evalReport, passRate, toJson } from "../../cases/eval-report.ts";
import { findCaseFiles } from "../../cases/find-case-files.ts";
import { openCaseProject } from "../../cases/project.ts";
import { readCaseFile } from "../../cases/read-case-file.ts";
import { type CaseRunner, runCase } from "../../cases/run-case.ts";
import { openScratch } from "../../cases/scratch.ts";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const [named] = invocation.positionals;
  if (named === undefined) throw new CommandError("usage", "No test file given: agentcli eval FILE.");
  const plan = readPlan(invocation);
  const { root, trust } = await openCaseProject(invocation, program);
  const cases = readAll(
    findCaseFiles(root, { cwd: program.environment.cwd, named: invocation.positionals }),
    plan.filter,
  );
  const scratch = await openScratch(root, program.environment);
  try {
    const runner: CaseRunner = { scratch, program, model: "live", ...trust };
    const results = await runAll(cases, plan, runner);
    const isSpent = results.some(({ runs }) => runs.length < plan.runs);
    await program.print(invocation.has("json") ? toJson(results, root) : evalReport(results, plan.runs));
    if (isSpent && !program.signal.aborted) {
      program.reporter.log("The budget is spent: not all runs were made. Raise --budget, or lower --runs.");
      return exitCodes.budget.code;
    }
    return results.every((result) => passRate(result) >= plan.minPass)
      ? exitCodes.completed.code
      : exitCodes.failed.code;
  } finally {
    scratch.remove();
  }
}

interface Plan {
  runs: number;
  /** Undefined: the configured one. */
  models: (string | undefined)[];
  /** From 0 to 1. */
  minPass: number;
  budget: string[];
  filter: string | undefined;
}

const defaultRuns = 3;

function readPlan({ text, list }: Invocation): Plan {
  const models = text("model")
    ?.split(",")
    .map((model) => model.trim());
  if (models?.includes("")) throw new CommandError("usage", "--model: a name is empty. Write --model A,B.");
  return {
    runs: wholeNumber("runs", text("runs"), { least: 1, most: 1_000, otherwise: defaultRuns }),
    models: models ?? [undefined],
    minPass: wholeNumber("min-pass", text("min-pass"), { least: 0, most: 100, otherwise: 100 }) / 100,
    budget: list("budget"),
    filter: text("filter"),
  };
}

function wholeNumber(
  flag: string,
  text: string | undefined,
  { least, most, otherwise }: { least: number; most: number; otherwise: number },
): number {
  if (text === undefined) return otherwise;
  const number = /^\d{1,6}%?$/.test(text) ? Number.parseInt(text, 10) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new CommandError("usage", `--${flag} ${text}: expected a whole number from ${least} to ${most}.`);
}

/** Nothing is asked where a file has a mistake: it would cost money for nothing. */
function readAll(paths: string[], filter = ""): Case[] {
  const files = paths.map(readCaseFile);
  const problems = files.flatMap(({ path, problems: found }) =>
    found.map(({ line, message }) => `${path}:${line}: ${message}.`),
  );
  if (problems.length > 0) throw new CommandError("usage", problems.join("\n"));
  const cases = files.flatMap((file) => file.cases).filter(({ name }) => name.includes(filter));
  if (cases.length === 0) throw new CommandError("usage", `No case has "${filter}" in its name.`);
  return cases;
}

/** One after the other: what is left of the budget is known before each run. */
async function runAll(cases: Case[], { runs, models, budget: flags }: Plan, runner: CaseRunner): Promise<EvalResult[]> {
  const budget = openEvalBudget(flags);
  const results: EvalResult[] = [];
  for (const model of models) {
    for (const one of cases) {
      const result: EvalResult = { model: model ?? "", case: one, runs: [] };
      results.push(result);
      while (result.runs.length < runs && !budget.isSpent() && !runner.program.signal.aborted) {
        const options = { ...runner.options, budget: budget.left(one.budget), ...(model !== undefined && { model }) };
        const ended = await runCase({ ...one, budget: [] }, { ...runner, options });
        budget.spend(ended);
        result.runs.push(ended);
      }
    }
  }
  return results;
}
