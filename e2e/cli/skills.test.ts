import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { call, type LoggedRequest, replyWith } from "@agentcli/testkit";
import { itemsOf, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";

const skill = (name: string, more = "", body = "1. Do it.") =>
  `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n\n${body}\n`;

const messagesOf = (request: LoggedRequest | undefined) =>
  ((request?.body as { input?: { role?: string; content?: { text?: string }[] }[] } | undefined)?.input ?? []).map(
    ({ role, content }) => ({ role, text: (content ?? []).map(({ text = "" }) => text).join("\n") }),
  );
const textOf = (request: LoggedRequest | undefined): string =>
  messagesOf(request)
    .map(({ text }) => text)
    .join("\n");

const write = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

test("names and descriptions are in the prompt, a body only when the skill is called", async () => {
  const { run, requests, repository } = await openHarness({
    replies: [replyWith("One."), replyWith("Two."), replyWith("Three.")],
    files: {
      ".agents/skills/notes/SKILL.md": skill("notes", "", "1. Write the notes."),
      ".platform/skills/quiet/SKILL.md": skill("quiet", "disable-model-invocation: true\n", "1. Be quiet."),
    },
  });
  await run(["exec", "hello"]);
  await run(["exec", "please use $notes"]);
  await run(["exec", "resume", "--last", "now $quiet"]);
  const [plain, called, resumed] = requests();
  const path = join(repository, ".agents/skills/notes/SKILL.md");
  const listed = messagesOf(plain).filter(({ text }) => text.startsWith("<skills_instructions>"));
  expect(listed).toMatchObject([
    { role: "developer", text: expect.stringContaining(`- notes: About notes. (file: ${path})`) },
  ]);
  expect(textOf(plain)).not.toMatch(/quiet|Write the notes/);
  expect(messagesOf(called).slice(-2)).toEqual([
    {
      role: "user",
      text: `<skill>\n<name>notes</name>\n<path>${path}</path>\n${skill("notes", "", "1. Write the notes.")}</skill>`,
    },
    { role: "user", text: "please use $notes" },
  ]);
  expect(textOf(resumed)).toContain("1. Be quiet.");
  expect(textOf(resumed).split("1. Write the notes.")).toHaveLength(2);
});

test("files of a skill in the agent home can be read in the sandbox, the rest of the home cannot", async () => {
  const { run, requests, home } = await openHarness({
    replies: [
      call("exec_command", { cmd: 'cat "$AGENT_HOME/skills/mine/references/table.md"; cat "$AGENT_HOME/config.toml"' }),
      call("exec_command", { cmd: 'echo changed > "$AGENT_HOME/skills/mine/SKILL.md"' }),
      replyWith("Done."),
    ],
  });
  write(join(home, "skills/mine/SKILL.md"), skill("mine"));
  write(join(home, "skills/mine/references/table.md"), "forty-two");
  await run(["exec", "-s", "workspace-write", "use $mine"]);
  const [looked = "", changed = ""] = toolOutputs(requests()[2]);
  expect(looked).toContain("forty-two");
  expect(looked).toMatch(/config\.toml: No such file/);
  expect(changed).toContain("Read-only file system");
  expect(textOf(requests()[0])).toContain(`<path>${join(home, "skills/mine/SKILL.md")}</path>`);
});

test("a repository cannot expose hidden files by naming them skills", async () => {
  const { run, requests, home, repository } = await openHarness({
    replies: [
      call("exec_command", { cmd: 'cat .agents/skills/config.toml "$AGENT_HOME/config.toml"' }),
      replyWith("Done."),
    ],
  });
  mkdirSync(join(repository, ".agents"));
  symlinkSync(home, join(repository, ".agents/skills"));
  await run(["exec", "look"]);
  expect(toolOutputs(requests()[1])[0]).not.toContain("model_provider");
  expect(toolOutputs(requests()[1])[0]).toContain("No such file");
});

test("skills list prints all skills, as text and as JSON", async () => {
  const { run, repository, home } = await openHarness({
    files: { ".agents/skills/notes/SKILL.md": skill("notes"), ".agents/skills/bad/SKILL.md": "nothing" },
  });
  write(
    join(home, "skills/mine/SKILL.md"),
    skill("mine", "disable-model-invocation: true\nmetadata:\n  short-description: Mine.\n"),
  );
  const env = { HOME: home };
  const listed = await run(["skills", "list"], { env });
  const path = join(repository, ".agents/skills/notes/SKILL.md");
  expect(listed).toMatchObject({ code: 0, stderr: expect.stringContaining("bad/SKILL.md:1: it does not begin") });
  expect(listed.stdout).toBe(
    `$notes (repository)\n  About notes.\n  ${path}\n$mine (user, only when named)\n  Mine.\n  ${join(home, "skills/mine/SKILL.md")}\n`,
  );
  const json = await run(["skills", "list", "--json"], { env });
  expect(JSON.parse(json.stdout)).toMatchObject({
    skills: [
      { name: "notes", scope: "repository", path, disable_model_invocation: false },
      { name: "mine", scope: "user", short_description: "Mine.", disable_model_invocation: true },
    ],
    problems: [{ severity: "error", line: 1 }],
  });
});

test("skills check names file and line of every mistake and ends with 1", async () => {
  const { run, repository } = await openHarness({
    files: {
      ".agents/skills/good/SKILL.md": skill("good"),
      ".agents/skills/bad/SKILL.md": "---\nname: Bad\n---\n",
      "other/named/SKILL.md": skill("else"),
    },
  });
  const all = await run(["skills", "check"], { env: { HOME: repository } });
  expect(all.code).toBe(1);
  expect(all.stdout).toContain(`${repository}/.agents/skills/bad/SKILL.md:2: error: the name "Bad" may hold only`);
  expect(all.stdout).toContain(`${repository}/.agents/skills/bad/SKILL.md:1: error: the description is missing`);
  expect(all.stdout).toContain("2 skills checked");
  const good = await run(["skills", "check", ".agents/skills/good"]);
  expect(good).toMatchObject({ code: 0, stdout: "1 skill checked, no problems.\n" });
  const warned = await run(["skills", "check", "other"]);
  expect(warned).toMatchObject({ code: 0, stdout: expect.stringContaining("SKILL.md:2: warning: the name else") });
  expect((await run(["skills", "check", "nowhere"])).code).toBe(2);
});

test("an unusable skill and an ambiguous name are warnings", async () => {
  const { events } = await openHarness({
    replies: [replyWith("Done.")],
    files: {
      ".agents/skills/bad/SKILL.md": "---\nname: bad\n---\n",
      ".agents/skills/twice/SKILL.md": skill("twice"),
      ".platform/skills/twice/SKILL.md": skill("twice"),
    },
  });
  const { code, events: shown } = await events(["use $twice"]);
  expect(code).toBe(0);
  expect(itemsOf(shown, "error").map(({ message }) => message)).toEqual([
    expect.stringContaining("bad/SKILL.md:1: the description is missing"),
    expect.stringMatching(/^\$twice could mean .* or .*\. Say which/),
  ]);
});

test("a disabled skill is neither listed nor called, and project_root_markers define where skills are searched", async () => {
  const harness = await openHarness({
    replies: [replyWith("One.")],
    files: {
      ".agents/skills/outer/SKILL.md": skill("outer"),
      "part/TOP": "",
      "part/.agents/skills/off/SKILL.md": skill("off", "", "1. Never."),
      "part/.agents/skills/notes/SKILL.md": skill("notes"),
      "part/AGENTS.md": "Rules of the part.",
      "AGENTS.md": "Rules of the whole.",
      "part/inner/x.txt": "",
    },
    config: `[skills]\nconfig = [{ name = "off", enabled = false }]\n`,
  });
  const markers = ["-c", 'project_root_markers=["TOP"]'];
  const cwd = join(harness.repository, "part/inner");
  await harness.run(["exec", ...markers, "use $off"], { cwd });
  const prompt = textOf(harness.requests()[0]);
  expect(prompt).toContain("- notes: About notes.");
  expect(prompt).toContain("Rules of the part.");
  for (const hidden of ["About off", "1. Never.", "About outer", "Rules of the whole."])
    expect(prompt).not.toContain(hidden);
  const { stdout } = await harness.run(["skills", "list"], { cwd: join(harness.repository, "part") });
  expect(stdout).toContain("$off (repository, switched off)");
});
