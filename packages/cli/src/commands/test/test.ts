// `agentcli test`: runs the test cases of a project without a model.
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { writeOutputFile } from "@agentcli/command-line/output-file";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { CaseFile } from "../../cases/case.ts";
import { findCaseFiles } from "../../cases/find-case-files.ts";
import { openCaseProject } from "../../cases/project.ts";
import { readCaseFile } from "../../cases/read-case-file.ts";
import { hasFailed, junitReport, type TestReport, tapReport, textReport } from "../../cases/report.ts";
import { runFiles } from "../../cases/run-files.ts";
import { openScratch } from "../../cases/scratch.ts";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { shareProbe } from "../../sandbox/probe.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  if (!invocation.has("watch")) return runOnce(invocation, program);
  const { watchProject } = await import("../../cases/watch.ts");
  const { root } = await openCaseProject(invocation, program);
  const report = invocation.text("junit");
  const ignored = report === undefined ? null : resolve(program.environment.cwd, report);
  return watchProject({ root, ignored, runTests: () => runOnce(invocation, program) }, program);
}

async function runOnce(invocation: Invocation, program: Program): Promise<number> {
  const project = await openCaseProject(invocation, program);
  const { root, environment } = project;
  const paths = findCaseFiles(root, { cwd: program.environment.cwd, named: invocation.positionals });
  const files = readFiles(paths, invocation.text("filter"));
  const scratch = await openScratch(root, program.environment);
  try {
    shareProbe(program.environment.agentHome, scratch.home);
    const inScratch = { ...program, environment: environment(scratch.home) };
    const runner = { scratch, program: inScratch, model: "scripted" as const, ...project.trust };
    const report = await runFiles(files, runner, root);
    await show(report, invocation, program);
    return hasFailed(report) ? exitOfFailure(files) : exitCodes.completed.code;
  } finally {
    scratch.remove();
  }
}

/** A file that cannot be read is a mistake in the tests, not in what they test. */
const exitOfFailure = (files: CaseFile[]): number =>
  files.some(({ problems }) => problems.length > 0) ? exitCodes.usage.code : exitCodes.failed.code;

function readFiles(paths: string[], filter = ""): CaseFile[] {
  const files = paths.map(readCaseFile);
  const chosen = files.map((file) => ({ ...file, cases: file.cases.filter(({ name }) => name.includes(filter)) }));
  if (filter === "" || chosen.some(({ cases }) => cases.length > 0)) return chosen;
  throw new CommandError("usage", `No case has "${filter}" in its name.`);
}

async function show(report: TestReport, invocation: Invocation, { print, environment }: Program): Promise<void> {
  await print(invocation.has("tap") ? tapReport(report) : textReport(report));
  const file = invocation.text("junit");
  if (file === undefined) return;
  try {
    writeOutputFile({ path: resolve(environment.cwd, file), programs: environment.programs }, junitReport(report));
  } catch (error) {
    throw new CommandError("usage", `The report cannot be written to ${file}: ${(error as Error).message}.`);
  }
}
