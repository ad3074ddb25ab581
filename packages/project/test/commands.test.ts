import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expandCommand } from "../src/commands/command.ts";
import { commandRoots, openContext, skillRoots } from "../src/index.ts";
import { readCommands } from "../src/skills.ts";
import { type ProjectFixture, projectFixture } from "./project-fixture.ts";

const files = {
  ".claude/commands/fix.md":
    "---\ndescription: Fixes an issue\nargument-hint: [number]\nallowed-tools: Bash(git:*)\nmodel: opus\n---\nFix #$1 by $2, all: $ARGUMENTS.\n",
  ".claude/commands/web/button.md": "Make a button. !`git status`\n",
  ".claude/commands/mine.md": "Not this.\n",
  ".claude/commands/empty.md": "---\ndescription: Nothing\n---\n",
  ".agents/skills/mine/SKILL.md": "---\nname: mine\ndescription: Own.\n---\nOwn text.\n",
  "a/.claude/commands/fix.md": "The nearer one for $ARGUMENTS.\n",
  "home:user/.codex/prompts/draft.md": "Draft for $OWNER costs $$5.\n",
};

const rootsOf = ({ root, path }: ProjectFixture, cwd = ".") =>
  commandRoots({ root, cwd: path(cwd), userHome: path("home:user") });

async function calling(prompt: string, cwd = ".") {
  const here = projectFixture(files);
  const { root, home, path } = here;
  const roots = skillRoots({ root, cwd: path(cwd), userHome: path("home:user"), agentHome: home, otherTools: "read" });
  const context = openContext({
    ...{ root, cwd: path(cwd), home, contextWindow: null },
    skills: { roots, catalogue: "listed" },
    commands: rootsOf(here, cwd),
  });
  const { messages, warnings } = await context.forPrompt(prompt);
  const texts = messages.flatMap(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")));
  return { texts, warnings };
}

describe("a prompt that begins with the name of a command", () => {
  test("brings its text with the arguments, and says what has no effect", async () => {
    const { texts, warnings } = await calling('/fix 12 "a test" now');
    expect(texts).toEqual([
      expect.stringMatching(
        /^<command>\n<name>\/fix<\/name>\n<path>.*\/\.claude\/commands\/fix\.md<\/path>\nFix #12 by a test, all: 12 "a test" now\.\n<\/command>$/,
      ),
    ]);
    expect(warnings.join("\n")).toMatch(/allowed-tools has no effect; sandbox.*\n.*model has no effect/);
  });

  test("finds it in a folder, nearer to the working directory, and among prompts of the user", async () => {
    expect((await calling("/button")).texts[0]).toContain("Make a button. !`git status`");
    expect((await calling("/button")).warnings[0]).toContain("are not run");
    expect((await calling("/web:button")).texts).toHaveLength(1);
    expect((await calling("/fix 7", "a")).texts[0]).toContain("The nearer one for 7.");
    expect((await calling("/prompts:draft OWNER=Ada")).texts[0]).toContain("Draft for Ada costs $5.");
  });

  test("uses a skill of that name first, and nothing for other text", async () => {
    expect((await calling("/mine")).texts[0]).toContain("Own text.");
    for (const prompt of ["/usr/bin/fix is gone", "fix it", "/unknown", "/empty"])
      expect((await calling(prompt)).texts).toEqual([]);
  });
});

test("commands that are not used are named with the reason", async () => {
  const here = projectFixture(files);
  const { commands, notes } = readCommands(rootsOf(here, "a"), new Set(["mine"]));
  expect(commands.map(({ name }) => name).sort()).toEqual(["button", "draft", "fix"]);
  expect(notes.map(({ message }) => message)).toEqual(
    expect.arrayContaining([
      "not used: it has no text",
      expect.stringMatching(/^not used: \/fix is .*a\/\.claude/),
      "not used: /mine is the skill mine",
    ]),
  );
});

test("arguments are inserted as they are, never expanded again", async () => {
  fc.assert(
    fc.property(fc.string(), (given) => {
      expect(expandCommand("a $ARGUMENTS b", given)).toBe(`a ${given} b`);
    }),
  );
});
