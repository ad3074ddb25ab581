// Ten tasks on generated projects in five languages, offline, with the projects' own tools, and no surprise by the sandbox.
// Without SWEEP=full those of one or two projects, of others each day.
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectRoot, sampleOf } from "@agentcli/testkit";
import { itemsOf, openHarness } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";
import { type CompetentModel, competentModel } from "./competent-model.ts";
import { go, monorepo, type Project, python, rust, typescript } from "./repositories/index.ts";
import { extend, repair } from "./work.ts";

const schema = {
  type: "object",
  properties: {
    commit: { type: "string", pattern: "^[0-9a-f]{40}$" },
    files: { type: "array", items: { type: "string" } },
    tests: { type: "string", enum: ["passed", "failed"] },
  },
  required: ["commit", "files", "tests"],
  additionalProperties: false,
};

/** Tools of languages may be installed in the home of the user. */
const env = { HOME: process.env.HOME ?? "" };

/** What a sandbox in the way would make tools say. */
const surprise =
  /sandbox|read-only file system|operation not permitted|permission denied|could not resolve|EROFS|EPERM|EACCES|build cache/i;

const projects = Object.entries({ python, go, rust, typescript, monorepo });

describe.each(sampleOf(projects, { every: 3 }))("in the %s project", (name, project) => {
  // A compiler alone took three minutes on a busy machine.
  test("the model repairs what the tests report, extends several files, and commits both", {
    timeout: 900_000,
  }, async () => {
    let model: CompetentModel | undefined;
    const harness = await openHarness({ files: project.files, replies: (body) => model?.answer(body) });
    install(project, harness.repository);
    writeFileSync(join(harness.home, "schema.json"), JSON.stringify(schema));
    for (const [work, { subject }] of [
      [repair(project.repair), project.repair],
      [extend(project.extension), project.extension],
    ] as const) {
      model = competentModel(work);
      const flags = ["-s", "workspace-write", "--output-schema", join(harness.home, "schema.json")];
      const { code, events } = await harness.events([...flags, `${subject}.`], { env });
      expect(model.problem(), name).toBeUndefined();
      expect(model.toolAnswers.filter((answer) => surprise.test(answer))).toEqual([]);
      expect(code).toBe(0);
      const report = JSON.parse(String(itemsOf(events, "agent_message").at(-1)?.text)) as { commit: string };
      expect(await harness.git("log", "-1", "--format=%H %s")).toBe(`${report.commit} ${subject}\n`);
      expect(await harness.git("status", "--porcelain")).toBe("");
    }
  });
});

/** As the project's package manager has installed it. Copies: the sandbox does not show a repository that is below /tmp. */
function install({ packages = [], links = {} }: Project, repository: string): void {
  for (const name of packages)
    cpSync(join(projectRoot, "node_modules", name), join(repository, "node_modules", name), { recursive: true });
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    symlinkSync(target, join(repository, path));
  }
}
