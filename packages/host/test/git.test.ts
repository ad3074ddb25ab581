import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryRepository } from "@agentcli/testkit";
import { openHostPrograms } from "@agentcli/workspace";
import { expect, onTestFinished, test } from "vitest";
import { type GitRequest, git } from "../src/git.ts";

/** A repository whose files go through the filter `x`; programs of its settings leave a mark. */
async function openRepository() {
  const repository = await temporaryRepository({ "a.txt": "one\n", ".gitattributes": "* filter=x diff=x\n" });
  onTestFinished(repository.remove);
  const { path } = repository;
  const home = join(path, ".git/test-home");
  mkdirSync(home);
  const mark = join(home, "ran");
  const program = `sh -c 'echo ran >> ${mark}; exit 1'`;
  const ask = (args: string[], options: Partial<GitRequest> & { variables?: NodeJS.ProcessEnv } = {}) => {
    const variables = { ...process.env, HOME: home, GIT_CONFIG_GLOBAL: join(home, "settings"), ...options.variables };
    const programs = openHostPrograms({ path: process.env.PATH, home, untrusted: [] });
    // As they are: settings of a home that an agent can write would be left out.
    const environment = {
      variables,
      userHome: home,
      programs: { ...programs, environment: (given: NodeJS.ProcessEnv) => given },
    };
    return git({ directory: path, args, environment, ...options });
  };
  const ran = () => (existsSync(mark) ? readFileSync(mark, "utf8") : "");
  return { repository, path, home, program, ask, ran };
}

type Repository = Awaited<ReturnType<typeof openRepository>>;

const sources: [string, (at: Repository) => unknown, ((at: Repository) => NodeJS.ProcessEnv)?][] = [
  ["the repository", ({ repository, program }) => repository.git("config", "filter.x.clean", program)],
  ["a filter process", ({ repository, program }) => repository.git("config", "filter.x.process", program)],
  ["the user", ({ home, program }) => writeFileSync(join(home, "settings"), `[filter "x"]\nclean = "${program}"\n`)],
  [
    "an included file",
    async ({ repository, home, program }) => {
      writeFileSync(join(home, "more"), `[filter "x"]\nclean = "${program}"\nrequired = true\n`);
      await repository.git("config", "include.path", join(home, "more"));
    },
  ],
  [
    "variables",
    () => undefined,
    ({ program }) => ({
      ...{ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "filter.x.clean", GIT_CONFIG_VALUE_0: program },
      GIT_CONFIG: "/dev/null",
    }),
  ],
  [
    "a parameter of git",
    () => undefined,
    ({ program }) => ({ GIT_CONFIG_PARAMETERS: `'filter.x.clean'='${program.replaceAll("'", "'\\''")}'` }),
  ],
  ["a converter of texts", ({ repository, program }) => repository.git("config", "diff.x.textconv", program)],
  ["a program for differences", ({ repository, program }) => repository.git("config", "diff.x.command", program)],
];

test.each(sources)("git of ours runs no program that %s names", async (_, plant, variablesOf) => {
  const at = await openRepository();
  await plant(at);
  const variables = variablesOf?.(at);
  writeFileSync(join(at.path, "a.txt"), "two\n");
  const diff = await at.ask(["diff", "HEAD", "--"], { variables });
  expect(diff).toMatchObject({ code: 0, stdout: expect.toSatisfy((text: Buffer) => text.includes("+two")) });
  expect(await at.ask(["status", "--porcelain"], { variables })).toMatchObject({ code: 0 });
  expect(await at.ask(["add", "--all"], { variables })).toMatchObject({ code: 0 });
  expect(at.ran()).toBe("");
});

test("git of ours is stopped at its limit with everything that it started", async () => {
  const at = await openRepository();
  const pid = join(at.home, "pid");
  const alias = `alias.hang=!echo $$ > ${pid}.new; mv ${pid}.new ${pid}; sleep 600 & wait`;
  const asked = at.ask(["-c", alias, "hang"], { limitMs: 5000 });
  await expect(asked).rejects.toThrow("git hang took longer than 5 s and was stopped.");
  const shell = Number(readFileSync(pid, "utf8"));
  await expect.poll(() => isRunning(shell)).toBe(false);
});

function isRunning(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
