import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, type LoggedRequest, replyWith } from "@agentcli/testkit";
import { itemsOf, openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";

interface InputMessage {
  type?: string;
  role?: string;
  content?: { text?: string }[];
}

const inputOf = (request: LoggedRequest | undefined): InputMessage[] =>
  (request?.body as { input?: InputMessage[] } | undefined)?.input ?? [];

/** All texts of the conversation in the order of the prompt, without tool outputs. */
const textsOf = (request: LoggedRequest | undefined): string[] =>
  inputOf(request).flatMap(({ content }) => (Array.isArray(content) ? content.map(({ text = "" }) => text) : []));

const count = (request: LoggedRequest | undefined, text: string): number =>
  textsOf(request).join("\n").split(text).length - 1;

test("AGENTS.md of user and repository comes before the environment and the prompt", async () => {
  const { run, requests, home, repository } = await openHarness({
    replies: [replyWith("Done.")],
    files: { "AGENTS.md": "Use tabs.", "sub/AGENTS.md": "Sub rules." },
  });
  writeFileSync(join(home, "AGENTS.md"), "Be brief.");
  await run(["exec", "hello"]);
  const texts = textsOf(requests()[0]);
  const at = texts.indexOf(
    `# AGENTS.md instructions for ${repository}\n\n<INSTRUCTIONS>\nBe brief.\n\n--- project-doc ---\n\nUse tabs.\n</INSTRUCTIONS>`,
  );
  expect(at).toBeGreaterThan(0);
  expect(texts[at + 1]).toContain("<environment_context>");
  expect(texts.at(-1)).toBe("hello");
});

test("the working directory decides which folders apply, and the configuration the size and file names", async () => {
  const { run, requests } = await openHarness({
    replies: [replyWith("One."), replyWith("Two.")],
    files: { "AGENTS.md": "Root rules.", "sub/README.md": "Other name.", "sub/x.txt": "" },
  });
  await run(["exec", "-C", "sub", "-c", 'project_doc_fallback_filenames=["README.md"]', "hello"]);
  expect(textsOf(requests()[0]).join()).toContain("Root rules.\n\nOther name.");
  await run(["exec", "-c", "project_doc_max_bytes=4", "hello"]);
  expect(textsOf(requests()[1]).join()).toContain("<INSTRUCTIONS>\nRoot\n</INSTRUCTIONS>");
});

test("instructions of a nested folder come once a file there was read, and a resumed thread does not repeat them", async () => {
  const { run, requests } = await openHarness({
    replies: [
      call("read_file", { path: "sub/a.txt" }),
      call("exec_command", { cmd: "cat sub/deep/b.txt" }),
      call("read_file", { path: "sub/a.txt" }),
      replyWith("Done."),
      call("read_file", { path: "sub/deep/b.txt" }),
      replyWith("Again."),
    ],
    files: {
      "AGENTS.md": "Root rules.",
      "sub/AGENTS.md": "Sub rules.",
      "sub/a.txt": "a",
      "sub/deep/AGENTS.md": "Deep rules.",
      "sub/deep/b.txt": "b",
    },
  });
  await run(["exec", "look"]);
  await run(["exec", "resume", "--last", "look again"]);
  const [first, second, third, ...rest] = requests();
  expect(count(first, "Sub rules.")).toBe(0);
  expect(inputOf(second).at(-2)?.type).toBe("function_call_output");
  expect(textsOf(second).at(-1)).toContain("<INSTRUCTIONS>\nSub rules.\n</INSTRUCTIONS>");
  expect(count(third, "Deep rules.")).toBe(1);
  for (const request of rest) {
    for (const text of ["Root rules.", "Sub rules.", "Deep rules."]) expect(count(request, text)).toBe(1);
  }
  expect(rest).toHaveLength(3);
});

test("rules come always, with files that match, by description or by @name", async () => {
  const rule = (front: string, body: string) => `---\n${front}\n---\n${body}\n`;
  const { run, requests } = await openHarness({
    replies: [call("read_file", { path: "db/x.sql" }), replyWith("Done."), replyWith("Named.")],
    files: {
      ".platform/rules/style.mdc": rule("alwaysApply: true", "Always kind."),
      ".platform/rules/sql.mdc": rule("globs: *.sql", "No joins."),
      ".platform/rules/release.mdc": rule("description: How to release", "Tag first."),
      ".platform/rules/rare.mdc": rule("alwaysApply: false", "By name only."),
      "db/x.sql": "select 1;",
    },
  });
  await run(["exec", "look"]);
  await run(["exec", "follow @rare please"]);
  const [first, second, third] = requests();
  expect(count(first, "Always kind.")).toBe(1);
  expect(count(first, "- release: How to release (file: ")).toBe(1);
  expect(count(first, "No joins.") + count(first, "Tag first.") + count(first, "By name only.")).toBe(0);
  expect(textsOf(second).at(-1)).toContain("No joins.");
  expect(count(third, "By name only.")).toBe(1);
  expect(textsOf(third).at(-1)).toBe("follow @rare please");
});

test("an unusable file is a warning, and the run continues", async () => {
  const { events, repository, requests } = await openHarness({
    replies: [call("read_file", { path: "sub/a.txt" }), replyWith("Done.")],
    files: { "AGENTS.md": "Visible.\u{e0041}", "sub/a.txt": "a", ".platform/rules/bad.mdc": "no front matter" },
  });
  mkdirSync(join(repository, "sub"), { recursive: true });
  writeFileSync(join(repository, "sub/AGENTS.md"), Buffer.from([0, 1, 2]));
  const { code, events: shown } = await events(["look"]);
  expect(code).toBe(0);
  expect(shown.slice(0, 2).map(({ type }) => type)).toEqual(["thread.started", "turn.started"]);
  expect(itemsOf(shown, "error").map(({ message }) => message)).toEqual([
    expect.stringContaining("AGENTS.md: 1 hidden characters were removed"),
    expect.stringContaining("bad.mdc:1: it does not begin with front matter"),
    expect.stringContaining("sub/AGENTS.md: it is not UTF-8 text"),
  ]);
  expect(count(requests()[0], "<INSTRUCTIONS>\nVisible.\n")).toBe(1);
});
