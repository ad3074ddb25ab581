import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { openWorkflowSchema } from "./workflow-schema.ts";

const folder = join(projectRoot, "examples/workflows");
const names = readdirSync(folder).sort();
const textOf = (name: string) => readFileSync(join(folder, name), "utf8");

interface Job {
  permissions?: Record<string, string>;
  steps: { uses?: string; run?: string; with?: Record<string, string> }[];
}

const jobsOf = (name: string) => Object.values((parse(textOf(name)) as { jobs: Record<string, Job> }).jobs);

test("there is an example for review, autofix, triage, release notes and a nightly run", () => {
  expect(names).toEqual(["autofix.yml", "nightly.yml", "release-notes.yml", "review.yml", "triage.yml"]);
});

test("every example satisfies GitHub's workflow schema, and a mistake would be found", async () => {
  const { problemsOfWorkflow } = await openWorkflowSchema();
  for (const name of names) expect(await problemsOfWorkflow(textOf(name)), name).toEqual([]);
  const broken = textOf("review.yml").replace("runs-on:", "run-on:");
  expect(await problemsOfWorkflow(broken)).not.toEqual([]);
});

test("action.yml satisfies GitHub's schema of actions, and a mistake would be found", async () => {
  const { problemsOfAction } = await openWorkflowSchema();
  const content = readFileSync(join(projectRoot, "action.yml"), "utf8");
  expect(problemsOfAction(content)).toEqual([]);
  expect(problemsOfAction(content.replace("using: composite", "using: [composite]"))).not.toEqual([]);
});

test("examples use inputs that the action has", () => {
  const { inputs } = parse(readFileSync(join(projectRoot, "action.yml"), "utf8")) as {
    inputs: Record<string, unknown>;
  };
  for (const name of names) {
    const used = jobsOf(name)
      .flatMap(({ steps }) => steps)
      .filter(({ uses }) => uses?.startsWith("OWNER/REPO@"))
      .flatMap((step) => Object.keys(step.with ?? {}));
    expect(used, name).toContain("agent-api-key");
    expect(Object.keys(inputs), name).toEqual(expect.arrayContaining(used));
  }
});

test("a job with the key writes nothing, and no script contains an expression", () => {
  for (const name of names) {
    expect(parse(textOf(name)), name).toMatchObject({ permissions: { contents: "read" } });
    for (const { steps, permissions = {} } of jobsOf(name)) {
      if (JSON.stringify(steps).includes("secrets.")) expect(permissions, name).toEqual({});
      for (const { run = "" } of steps) expect(run, name).not.toContain("${{");
    }
  }
});
