import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Skill, skillRoots } from "../src/index.ts";
import {
  catalogueBudget,
  checkSkills,
  mentionedSkills,
  readSkills,
  skillCatalogue,
  skillMessage,
} from "../src/skills.ts";
import { type ProjectFixture, projectFixture } from "./project-fixture.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);
const skill = (name: string, description = `About ${name}.`, more = "") =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n\n# ${name}\n\n1. Do it.\n`;

const rootsOf = ({ root, home, path }: ProjectFixture, cwd = ".") =>
  skillRoots({
    root,
    cwd: path(cwd),
    userHome: path("home:user"),
    agentHome: home,
    adminDirectory: path("home:admin"),
    otherTools: "read",
  });
const read = (here: ProjectFixture, cwd = ".") => readSkills(rootsOf(here, cwd));
const namesOf = (skills: Skill[]) => skills.map(({ name }) => name);

describe("skills are found", () => {
  test("in every directory, administrator before repository before user, by name within each", () => {
    const here = projectFixture({
      ".agents/skills/zebra/SKILL.md": skill("zebra"),
      ".agentcli/skills/own/SKILL.md": skill("own"),
      ".platform/skills/cloud/SKILL.md": skill("cloud"),
      "a/.agents/skills/apple/SKILL.md": skill("apple"),
      "a/b/.agents/skills/too-deep/SKILL.md": skill("too-deep"),
      "home:user/.agents/skills/mine/SKILL.md": skill("mine"),
      "home:skills/here/SKILL.md": skill("here"),
      "home:admin/policy/SKILL.md": skill("policy"),
    });
    const { skills, problems } = read(here, "a");
    expect(namesOf(skills)).toEqual(["policy", "apple", "cloud", "own", "zebra", "here", "mine"]);
    expect(problems).toEqual([]);
  });

  test("at any depth up to six, not in hidden folders, and only under their exact name", () => {
    const here = projectFixture({
      ".agents/skills/a/b/c/d/e/f/SKILL.md": skill("f"),
      ".agents/skills/a/b/c/d/e/f/g/SKILL.md": skill("g"),
      ".agents/skills/.git/x/SKILL.md": skill("x"),
      ".agents/skills/lower/skill.md": skill("lower"),
    });
    expect(namesOf(read(here).skills)).toEqual(["f"]);
  });

  test("through links, once each, also in link cycles", () => {
    const here = projectFixture({
      "elsewhere/shared/SKILL.md": skill("shared"),
      ".agents/skills/real/SKILL.md": skill("real"),
    });
    symlinkSync(here.path("elsewhere/shared"), here.path(".agents/skills/shared"));
    symlinkSync(here.path("elsewhere/shared"), here.path(".agents/skills/again"));
    symlinkSync(here.path(".agents/skills"), here.path(".agents/skills/real/circle"));
    symlinkSync("nowhere", here.path(".agents/skills/broken"));
    expect(namesOf(read(here).skills)).toEqual(["real", "shared"]);
  });

  test("but no other file through a link: not when it is read first, and not when it is used", () => {
    const here = projectFixture({
      "home:user/notes.md": skill("secret"),
      "home:user/shared/folder/SKILL.md": skill("folder"),
      "docs/inside.md": skill("inside"),
      ".agents/skills/late/SKILL.md": skill("late"),
    });
    for (const name of ["secret", "inside"]) mkdirSync(here.path(`.agents/skills/${name}`));
    symlinkSync(here.path("home:user/notes.md"), here.path(".agents/skills/secret/SKILL.md"));
    symlinkSync(here.path("docs/inside.md"), here.path(".agents/skills/inside/SKILL.md"));
    symlinkSync(here.path("home:user/shared/folder"), here.path(".agents/skills/folder"));
    const { skills, problems } = read(here);
    expect(namesOf(skills)).toEqual(["folder", "inside", "late"]);
    expect(problems).toMatchObject([
      { path: here.path(".agents/skills/secret/SKILL.md"), message: expect.stringContaining("leads out") },
    ]);
    const late = skills.find(({ name }) => name === "late");
    rmSync(here.path(".agents/skills/late/SKILL.md"));
    symlinkSync(here.path("home:user/notes.md"), here.path(".agents/skills/late/SKILL.md"));
    expect(late && skillMessage(late)).toMatchObject({ message: expect.stringContaining("leads out") });
    for (const shown of skills.filter(({ name }) => name !== "late"))
      expect(skillMessage(shown)).toMatchObject({ text: expect.stringContaining("---") });
  });

  test("with only their front matter read, however long", () => {
    const here = projectFixture({
      ".agents/skills/long/SKILL.md": skill(
        "long",
        "d".repeat(900),
        `metadata:\n  short-description: Short.\n  notes: ${"n".repeat(5_000)}\n`,
      ),
      ".agents/skills/big/SKILL.md": Buffer.concat([Buffer.from(skill("big")), Buffer.alloc(10_000_000, "a")]),
    });
    const { skills, problems } = read(here);
    expect(skills).toMatchObject([{ name: "big" }, { name: "long", shortDescription: "Short." }]);
    expect(problems).toEqual([]);
  });
});

describe("skills of other tools", () => {
  const files = {
    ".agents/skills/mine/SKILL.md": skill("mine"),
    ".claude/skills/mine/SKILL.md": skill("mine", "Another one."),
    ".claude/skills/theirs/SKILL.md": skill("theirs", "Of another tool.", "allowed-tools: Bash(git:*)\nmodel: opus\n"),
    ".claude/skills/broken/SKILL.md": "no front matter\n",
    "a/.codex/skills/codex/SKILL.md": skill("codex"),
    "home:user/.claude/skills/of-user/SKILL.md": skill("of-user"),
  };

  test("are read after the project's own, which win, and what is not used or has no effect is noted", () => {
    const here = projectFixture(files);
    const { skills, problems, notes } = read(here, "a");
    expect(namesOf(skills)).toEqual(["codex", "mine", "theirs", "of-user"]);
    expect(skills.find(({ name }) => name === "mine")?.path).toBe(here.path(".agents/skills/mine/SKILL.md"));
    expect(problems).toEqual([]);
    expect(notes.map(({ path, message }) => [path.replace(`${here.root}/`, ""), message])).toEqual([
      [".claude/skills/broken/SKILL.md", expect.stringContaining("does not begin with front matter")],
      [
        ".claude/skills/mine/SKILL.md",
        expect.stringMatching(/^not used: .*\.agents\/skills\/mine\/SKILL.md has the same/),
      ],
      [".claude/skills/theirs/SKILL.md", "allowed-tools has no effect; sandbox and rules decide what may run"],
      [".claude/skills/theirs/SKILL.md", "model has no effect; the model of the run is used"],
    ]);
  });

  test("are not read where the configuration turns them off, nor through links out of the project", () => {
    const here = projectFixture({ ...files, "home:user/secret/SKILL.md": skill("secret") });
    symlinkSync(here.path("home:user/secret"), here.path(".claude/skills/secret"));
    expect(namesOf(read(here).skills)).not.toContain("secret");
    const { root, home, path } = here;
    const off = { root, cwd: root, userHome: path("home:user"), agentHome: home, otherTools: "ignored" } as const;
    expect(namesOf(readSkills(skillRoots(off)).skills)).toEqual(["mine"]);
  });
});

describe("the rules for a skill", () => {
  test.each([
    ["no front matter", "# Hello\n", 1, "front matter"],
    ["front matter that does not end", "---\nname: x\n", 1, "does not end"],
    ["front matter that cannot be read", "---\nname: x\nwhat\n---\n", 3, "expected"],
    ["no description", "---\nname: x\n---\n", 1, "description is missing"],
    ["an empty description", "---\nname: x\ndescription: ''\n---\n", 3, "description is missing"],
    ["a description that is too long", `---\nname: x\ndescription: ${"d".repeat(1_025)}\n---\n`, 3, "the most is 1024"],
    ["a name with other characters", "---\nname: X_y\ndescription: d\n---\n", 2, "only a-z"],
    ["a name with spaces", "---\ndescription: d\nname: my skill\n---\n", 3, "only a-z"],
    ["a name that begins with a hyphen", "---\nname: -x\ndescription: d\n---\n", 2, "hyphen"],
    ["a name that is too long", `---\nname: ${"n".repeat(65)}\ndescription: d\n---\n`, 2, "the most is 64"],
  ])("are broken by %s, and the line is named", (_, text, line, message) => {
    const here = projectFixture({ "x/SKILL.md": text });
    const { problems } = checkSkills([here.path("x")]);
    expect(problems).toContainEqual({
      path: here.path("x/SKILL.md"),
      line,
      severity: "error",
      message: expect.stringContaining(message),
    });
  });

  test("use the folder for a missing name, and warn where they differ", () => {
    const here = projectFixture({ "one/SKILL.md": "---\ndescription: d\n---\n", "two/SKILL.md": skill("other") });
    expect(checkSkills([here.path("one/SKILL.md"), here.path("two")])).toMatchObject({
      files: [here.path("one/SKILL.md"), here.path("two/SKILL.md")],
      problems: [{ severity: "warning", line: 2, message: expect.stringContaining("folder two") }],
    });
  });

  test("are checked for the skills of a repository too", () => {
    const here = projectFixture({ ".agents/skills/a/SKILL.md": skill("a"), ".platform/skills/b/SKILL.md": "x" });
    expect(checkSkills([here.root])).toMatchObject({ files: { length: 2 }, problems: [{ line: 1 }] });
  });

  test("a skill that breaks one is skipped only where it cannot be used", () => {
    const here = projectFixture({
      ".agents/skills/My_Skill/SKILL.md": skill("My_Skill"),
      ".agents/skills/wordy/SKILL.md": skill("wordy", "d".repeat(2_000)),
      ".agents/skills/spaced/SKILL.md": skill("has spaces"),
    });
    const { skills, problems } = read(here);
    expect(namesOf(skills)).toEqual(["My_Skill", "wordy"]);
    expect(problems.filter(({ severity }) => severity === "error")).toHaveLength(3);
  });
});

describe("a skill may have metadata for programs", () => {
  const yaml = `interface:
  display_name: "Release notes"
  short_description: Notes of a release
policy:
  allow_implicit_invocation: false
dependencies:
  tools:
    - type: mcp
      value: tracker
      url: https://tracker.example
    - type: odd
`;

  test("with display data, model access and dependencies", () => {
    const here = projectFixture({
      ".agents/skills/notes/SKILL.md": skill("notes"),
      ".agents/skills/notes/agents/openai.yaml": yaml,
    });
    expect(read(here).skills).toMatchObject([
      {
        shortDescription: "Notes of a release",
        invocation: "by-name",
        interface: { display_name: "Release notes" },
        dependencies: [{ type: "mcp", value: "tracker", url: "https://tracker.example" }],
      },
    ]);
  });

  test("of which our own file has precedence, and a broken one is ignored", () => {
    const here = projectFixture({
      ".agents/skills/notes/SKILL.md": skill("notes"),
      ".agents/skills/notes/agents/openai.yaml": yaml,
      ".agents/skills/notes/agents/agentcli.yaml": "policy:\n  allow_implicit_invocation: true\n",
      ".agents/skills/other/SKILL.md": skill("other", "About.", "disable-model-invocation: true\n"),
      ".agents/skills/other/agents/x.yml": "\t{broken",
    });
    expect(read(here).skills.map(({ invocation }) => invocation)).toEqual(["by-model", "by-name"]);
  });
});

test("skills are disabled by name or path, and the last entry wins", () => {
  const here = projectFixture({
    ".agents/skills/one/SKILL.md": skill("one"),
    ".agents/skills/two/SKILL.md": skill("two"),
    ".agents/skills/three/SKILL.md": skill("three"),
  });
  const switches = [
    { name: "one", enabled: false },
    { name: "two", enabled: false },
    { name: "two", enabled: true },
    { path: here.path(".agents/skills/three"), enabled: false },
    { enabled: false },
  ];
  const { skills } = readSkills(rootsOf(here), switches);
  expect(Object.fromEntries(skills.map(({ name, enabled }) => [name, enabled]))).toEqual({
    one: false,
    two: true,
    three: false,
  });
});

describe("the list for the model", () => {
  const many = (count: number, description: string): Skill[] =>
    Array.from({ length: count }, (_, index) => ({
      name: `s${index}`,
      description,
      shortDescription: description,
      path: `/r/s${index}/SKILL.md`,
      scope: "repository",
      invocation: "by-model",
      interface: {},
      dependencies: [],
      enabled: true,
    }));

  test("has a line for each, with its file", () => {
    const [one] = many(1, "Does: things.");
    const hidden: Skill = { ...many(1, "x")[0], name: "hidden", invocation: "by-name" } as Skill;
    const { text } = skillCatalogue([...(one ? [one] : []), hidden], 8_000);
    expect(text).toMatch(/^<skills_instructions>\n## Skills\n/);
    expect(text).toContain(
      "\n### Available skills\n- s0: Does: things. (file: /r/s0/SKILL.md)\n### How to use skills\n",
    );
    expect(text).toMatch(/<\/skills_instructions>$/);
    expect(text).not.toContain("hidden");
    expect(skillCatalogue([hidden], 8_000)).toEqual({ text: null, leftOut: 0 });
  });

  test("shortens all descriptions alike before it omits skills", () => {
    const lines = (text: string | null) => (text ?? "").split("\n").filter((line) => line.startsWith("- s"));
    const shortened = skillCatalogue(many(50, "é".repeat(500)), 5_000);
    expect(shortened.leftOut).toBe(0);
    expect(Buffer.byteLength(lines(shortened.text).join("\n"))).toBeLessThanOrEqual(5_000);
    expect(new Set(lines(shortened.text).map((line) => line.match(/é+…/)?.[0].length)).size).toBe(1);
    const crowded = skillCatalogue(many(50, "x".repeat(500)), 500);
    expect(crowded.leftOut).toBe(50 - lines(crowded.text).length);
    expect(lines(crowded.text)[0]).toBe("- s0: (file: /r/s0/SKILL.md)");
  });

  test("may use 2 % of the context window, or the configured size", () => {
    expect(catalogueBudget(100_000, undefined)).toBe(8_000);
    expect(catalogueBudget(null, undefined)).toBe(8_000);
    expect(catalogueBudget(100_000, 500)).toBe(2_000);
    expect(catalogueBudget(100_000, 50_000)).toBe(40_000);
  });
});

describe("a prompt names skills", () => {
  const here = () =>
    projectFixture({
      ".agents/skills/notes/SKILL.md": skill("notes"),
      ".agents/skills/my_plan/SKILL.md": skill("my_plan"),
      ".agents/skills/PATH/SKILL.md": skill("PATH"),
      ".agents/skills/twice/SKILL.md": skill("twice"),
      ".platform/skills/twice/SKILL.md": skill("twice"),
      ".platform/skills/quiet/SKILL.md": skill("quiet", "Quiet.", "disable-model-invocation: true\n"),
    });
  const called = (prompt: string) => namesOf(mentionedSkills(prompt, read(here()).skills).skills);

  test.each([
    ["use $notes now", ["notes"]],
    ["$notes, then $my_plan.", ["notes", "my_plan"]],
    ["run $notes: all of it; and x$notes again", ["notes"]],
    ["$quiet", ["quiet"]],
    ["/notes for version 2", ["notes"]],
    ["see /notes and $PATH, $HOME, $unknown, $5", []],
    ["$notesx $NOTES", []],
  ])("%s", (prompt, names) => {
    expect(called(prompt)).toEqual(names);
  });

  test.each([
    ["use $no-such now", ["no-such"]],
    ["$notes and ($gone), then $gone: again", ["gone"]],
    ["[$linked](/x/SKILL.md)", ["linked"]],
    ["it costs $5, x$inner, $HOME, $MY_VAR and $1", []],
    ["run `echo $within` and\n```sh\necho $fenced\n```", []],
    ["explain\n\n<stdin>\necho $piped\n</stdin>", []],
  ])("that do not exist are reported: %s", (prompt, names) => {
    expect(mentionedSkills(prompt, read(here()).skills).unknown).toEqual(names);
  });

  test("by a link where the name is ambiguous", () => {
    const at = here();
    const { skills } = read(at);
    const path = at.path(".platform/skills/twice/SKILL.md");
    expect(mentionedSkills("$twice", skills)).toEqual({
      skills: [],
      ambiguous: [{ name: "twice", paths: [at.path(".agents/skills/twice/SKILL.md"), path] }],
      unknown: [],
    });
    for (const target of [path, `skill://${path}`, ".platform/skills/twice/SKILL.md"]) {
      const { skills: meant, ambiguous } = mentionedSkills(`use [$twice](${target})`, skills);
      expect([meant.map((found) => found.path), ambiguous]).toEqual([[path], []]);
    }
  });

  test("and the whole file goes to the model, without hidden characters", () => {
    const at = projectFixture({ ".agents/skills/notes/SKILL.md": `${skill("notes")}Hid\u200bden.\n` });
    const [notes] = read(at).skills;
    const { path = "" } = notes ?? {};
    expect(notes && skillMessage(notes)).toEqual({
      text: `<skill>\n<name>notes</name>\n<path>${path}</path>\n${skill("notes")}Hidden.\n</skill>`,
    });
    expect(notes && skillMessage({ ...notes, path: at.path("gone") })).toMatchObject({ message: "the skill is gone" });
  });

  test("and any prompt is safe", () => {
    const { skills } = read(here());
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("$", "[", "]", "(", ")", "notes", ":", "-", "/", " ", "twice") }),
        (prompt) => {
          expect(mentionedSkills(prompt, skills).skills.length).toBeLessThanOrEqual(skills.length);
        },
      ),
      { numRuns: runs },
    );
  });
});

test("a directory that is a file, or missing, has no skills", () => {
  const here = projectFixture({ ".agents/skills": "a file" });
  mkdirSync(here.path("home:skills"));
  expect(read(here)).toEqual({ skills: [], problems: [], notes: [] });
});
