import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMarkdownRole } from "../src/agents/markdown-role.ts";
import { builtInRoles, readAgentRoles } from "../src/index.ts";
import { type ProjectFixture, projectFixture } from "./project-fixture.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);
const read = ({ root, home, path }: ProjectFixture, cwd = ".") =>
  readAgentRoles({ root, cwd: path(cwd), agentHome: home });
const toml = (name: string, more = "", instructions = "Be thorough.") =>
  `name = "${name}"\ndescription = "About ${name}"\ndeveloper_instructions = "${instructions}"\n${more}`;

describe("custom agents", () => {
  test("built in are a default, a worker, a read-only explorer and a writer of tests", async () => {
    const { roles, problems } = await read(projectFixture());
    expect(roles).toEqual(builtInRoles);
    expect(roles.map(({ name, readonly, model }) => [name, readonly, model])).toEqual([
      ["default", false, "inherit"],
      ["explorer", true, "inherit"],
      ["test_writer", false, "inherit"],
      ["worker", false, "inherit"],
    ]);
    expect(problems).toEqual([]);
  });

  test("come from TOML files at any depth, with their restrictions", async () => {
    const keys = `model = "small"\nmodel_reasoning_effort = "low"\nsandbox_mode = "read-only"\ntools = ["read_file"]\nreadonly = true\nnickname_candidates = ["Ada"]\n[mcp_servers.x]\ncommand = "x"\n`;
    const here = projectFixture({ ".agentcli/agents/team/tester.toml": toml("tester", keys) });
    const { roles, problems } = await read(here);
    expect(roles.find(({ name }) => name === "tester")).toEqual({
      name: "tester",
      description: "About tester",
      instructions: "Be thorough.",
      model: "small",
      effort: "low",
      sandbox: "read-only",
      tools: ["read_file"],
      nicknames: ["Ada"],
      readonly: true,
      source: here.path(".agentcli/agents/team/tester.toml"),
    });
    expect(problems.map(({ message }) => message)).toEqual(["mcp_servers has no effect here; agents have the run's"]);
  });

  test("of the user name the provider of their model; those of a repository do not, and a warning tells so", async () => {
    const here = projectFixture({
      "home:agents/far.toml": toml("far", 'model = "small"\nmodel_provider = "other"\n'),
      "home:agents/near.toml": toml("near", 'model = "small"\nmodel_provider = "other"\n'),
      ".agentcli/agents/near.toml": toml("near", 'model = "own"\n'),
      ".agentcli/agents/planted.toml": toml("planted", 'model = "m"\nmodel_provider = "other"\n'),
    });
    const { roles, problems } = await read(here);
    const chosen = roles.map(({ name, model, provider }) => [name, model, provider]);
    expect(chosen).toContainEqual(["far", "small", "other"]);
    expect(chosen).toContainEqual(["near", "own", undefined]);
    expect(chosen).toContainEqual(["planted", "m", undefined]);
    expect(problems).toMatchObject([{ path: here.path(".agentcli/agents/planted.toml"), severity: "warning" }]);
    expect(problems[0]?.message).toContain("model_provider has no effect in a repository");
  });

  test("come from Markdown files, their body being the instructions", async () => {
    const here = projectFixture({
      ".platform/agents/verify work.md":
        "---\ndescription: Checks: everything\nmodel: fast\nreadonly: true\ntools: read_file, grep_files\n---\nLook twice.\n",
      ".platform/agents/plain.mdc": "---\nname: plain_one\n---\nGo.\n",
    });
    const { roles } = await read(here);
    expect(roles.find(({ name }) => name === "verify-work")).toMatchObject({
      description: "Checks: everything",
      instructions: "Look twice.",
      model: "fast",
      readonly: true,
      tools: ["read_file", "grep_files"],
    });
    expect(roles.find(({ name }) => name === "plain-one")).toMatchObject({ model: "inherit", readonly: false });
  });

  test("of one name: the nearest wins and inherits what it leaves out", async () => {
    const here = projectFixture({
      "home:agents/tester.toml": toml("tester", 'model = "home"\nmodel_reasoning_effort = "high"\n'),
      ".platform/agents/tester.md": "---\ndescription: d\nmodel: cloud\n---\nCloud.\n",
      ".agentcli/agents/tester.toml": toml("tester", "", "Root."),
      "a/.agentcli/agents/tester.toml": toml("tester", 'model = "near"\n', "Near."),
      ".agentcli/agents/explorer.toml": toml("explorer"),
    });
    const at = async (cwd: string) => (await read(here, cwd)).roles.find(({ name }) => name === "tester");
    expect(await at(".")).toMatchObject({ instructions: "Root.", model: "cloud", effort: "high" });
    expect(await at("a")).toMatchObject({ instructions: "Near.", model: "near", effort: "high" });
    expect((await read(here)).roles.find(({ name }) => name === "explorer")).toMatchObject({ readonly: true });
  });

  test("can be declared in the configuration, with a file of their own or without one", async () => {
    const file = `description = "From its file"\ndeveloper_instructions = "Be terse."\nmodel = "small"\n`;
    const here = projectFixture({
      "elsewhere/terse.toml": file,
      ".agentcli/agents/own.toml": `developer_instructions = "Own."`,
    });
    const { root, home } = here;
    const declared = {
      terse: {
        description: "From the table",
        config_file: here.path("elsewhere/terse.toml"),
        nickname_candidates: ["Bo"],
      },
      own: { description: "Own one", config_file: here.path(".agentcli/agents/own.toml") },
      plain: { description: "Only a table" },
      worker: { nickname_candidates: ["Ada"] },
    };
    const { roles, problems } = await readAgentRoles({ root, cwd: root, agentHome: home, declared });
    expect(problems).toEqual([]);
    const by = Object.fromEntries(roles.map((role) => [role.name, role]));
    expect(by.terse).toMatchObject({
      description: "From its file",
      instructions: "Be terse.",
      model: "small",
      nicknames: ["Bo"],
    });
    expect(by.own).toMatchObject({ description: "Own one", instructions: "Own." });
    expect(by.plain).toMatchObject({ description: "Only a table", instructions: "", model: "inherit" });
    const worker = builtInRoles.find(({ name }) => name === "worker");
    expect(by.worker).toMatchObject({ instructions: worker?.instructions, nicknames: ["Ada"] });
  });

  test.each([
    [{ config_file: "/nowhere/role.toml", description: "d" }, "there is no such file|no such file"],
    [{ description: "d", nickname_candidates: ["a/b"] }, "nickname_candidates must be"],
    [{}, "description must be"],
  ])("declared as %j are ignored, and the run says why", async (table, message) => {
    const { root, home } = projectFixture();
    const { roles, problems } = await readAgentRoles({ root, cwd: root, agentHome: home, declared: { odd: table } });
    expect(roles).toEqual(builtInRoles);
    expect(problems).toMatchObject([{ message: expect.stringMatching(message) }]);
  });

  test.each([
    [".agentcli/agents/x.toml", "name = ", "not valid TOML"],
    [".agentcli/agents/x.toml", 'name = "x"\ndescription = "d"', "developer_instructions must be"],
    [".agentcli/agents/x.toml", 'name = "x"\ndescription = " "\ndeveloper_instructions = "i"', "description must be"],
    [".agentcli/agents/x.toml", toml("x", "colour = 1"), "unknown key colour"],
    [".agentcli/agents/x.toml", toml("x y"), "name must be"],
    [".agentcli/agents/x.toml", toml("x", 'sandbox_mode = "none"'), "sandbox_mode must be one of"],
    [".agentcli/agents/x.toml", toml("x", 'tools = "all"'), "tools must be"],
    [".agentcli/agents/x.toml", toml("x", "nickname_candidates = []"), "nickname_candidates must be"],
    [".platform/agents/x.md", "Just text.", "front matter"],
    [".platform/agents/x.md", "---\ndescription: d\n---\n\n", "no body"],
    [".platform/agents/x.md", "---\nwhat\n---\nbody", "line 2"],
    [".platform/agents/x.md", "\0\0", "not UTF-8"],
  ])("%s with %j is ignored, and the run says why", async (path, text, message) => {
    const here = projectFixture({ [path]: text });
    const { roles, problems } = await read(here);
    expect(roles).toEqual(builtInRoles);
    expect(problems).toMatchObject([
      {
        path: here.path(path),
        message: expect.stringMatching(new RegExp(`^Ignoring malformed agent role definition: .*${message}`)),
      },
    ]);
  });

  test("of another tool are read where the name is free, with their tools and without their model", async () => {
    const agent = (name: string, more: string) =>
      `---\nname: ${name}\ndescription: About ${name}.\n${more}---\nDo it.\n`;
    const here = projectFixture({
      ".claude/agents/critic.md": agent(
        "critic",
        "tools: Read, Grep, Bash, Oracle\nmodel: opus\ncolor: red\nhooks: x\n",
      ),
      ".claude/agents/planner.md": agent("planner", "permissionMode: plan\ntools: Oracle\n"),
      ".claude/agents/worker.md": agent("worker", ""),
      ".claude/agents/own.md": agent("own", "model: haiku\n"),
      ".claude/agents/empty.md": "---\nname: empty\n---\n",
      ".agentcli/agents/own.toml": toml("own"),
      "home:user/.claude/agents/of-user.md": agent("of-user", "model: inherit\n"),
    });
    const { root, home, path } = here;
    const sources = { root, cwd: root, agentHome: home, otherTools: { userHome: path("home:user") } };
    const { roles, problems, notes } = await readAgentRoles(sources);
    const role = (name: string) => roles.find((each) => each.name === name);
    expect(role("critic")).toMatchObject({
      model: "inherit",
      tools: ["read_file", "view_image", "grep_files", "exec_command", "write_stdin"],
    });
    expect(role("planner")).toMatchObject({ readonly: true, tools: [] });
    expect(role("own")).toMatchObject({ description: "About own", source: path(".agentcli/agents/own.toml") });
    expect(role("worker")?.source).toBe("built-in");
    expect(role("of-user")).toMatchObject({ model: "inherit" });
    expect(problems).toEqual([]);
    expect(notes.map(({ path, message }) => [path.replace(/^.*\//, ""), message])).toEqual([
      ["critic.md", "model opus is ignored; it has the model of its parent"],
      ["critic.md", "the tool Oracle is not known here; it does not have it"],
      ["critic.md", "hooks has no effect"],
      ["empty.md", expect.stringContaining("not used: it has no body")],
      ["own.md", "model haiku is ignored; it has the model of its parent"],
      ["own.md", `not used: own is ${path(".agentcli/agents/own.toml")}`],
      ["planner.md", "the tool Oracle is not known here; it does not have it"],
      ["worker.md", "not used: worker is built-in"],
    ]);
  });

  test("of any text are a role or a problem", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (front, body) => {
        const role = parseMarkdownRole(`---\n${front}\n---\n${body}`, "/x/a.md");
        expect("problem" in role || role.name !== "").toBe(true);
      }),
      { numRuns: runs },
    );
  });
});
