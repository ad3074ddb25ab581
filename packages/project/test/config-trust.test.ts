import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { expect, test } from "vitest";
import { trustProject } from "../src/index.ts";
import { machine } from "./machine.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);

/** The configuration after /my project is trusted. */
async function trusting(text: string, root = "/my project"): Promise<string> {
  const { pathOf } = await machine({ "home/config.toml": text });
  await trustProject(pathOf("home/config.toml"), root);
  return readFileSync(pathOf("home/config.toml"), "utf8");
}

const entry = '[projects."/my project"]\ntrust_level = "trusted"\n';

test.each([
  ["an empty file", "", entry],
  ["a file with comments", '# mine\nmodel = "x" # why\n', `# mine\nmodel = "x" # why\n\n${entry}`],
  ["a file without a last newline", 'model = "x"', `model = "x"\n\n${entry}`],
  ["a file from another system", "a = 1\r\n", `a = 1\r\n\r\n${entry.replaceAll("\n", "\r\n")}`],
  [
    "an entry that says otherwise",
    "[projects.'/my project'] # here\n  trust_level = 'untrusted' # for now\n[limits]\ntrust_level = 'x'\n",
    "[projects.'/my project'] # here\n  trust_level = \"trusted\" # for now\n[limits]\ntrust_level = 'x'\n",
  ],
  [
    "an entry that says nothing",
    '[projects."/my project"]\n\n[limits]\n',
    '[projects."/my project"]\ntrust_level = "trusted"\n\n[limits]\n',
  ],
  ["an entry that says so already", `${entry}# end`, `${entry}# end`],
  [
    "other projects",
    '[projects."/other"]\ntrust_level = "untrusted"\n',
    `[projects."/other"]\ntrust_level = "untrusted"\n\n${entry}`,
  ],
])("%s keeps its bytes", async (_, before, after) => {
  expect(await trusting(before)).toBe(after);
});

test.each([
  ['projects = { "/a" = { trust_level = "trusted" } }\n'],
  ['[projects]\n"/my project" = { trust_level = "untrusted" }\n'],
  ['text = """\n[projects."/my project"]\n"""\n'],
])("a form that cannot be edited safely is left alone, with what to write: %j", async (text) => {
  const { pathOf, home } = await machine({ "home/config.toml": text });
  await expect(trustProject(pathOf("home/config.toml"), "/my project")).rejects.toThrow(entry.trim());
  expect(readFileSync(pathOf("home/config.toml"), "utf8")).toBe(text);
  expect(readdirSync(home)).toEqual(["config.toml"]);
});

test("a file that is not TOML is not changed", async () => {
  await expect(trusting("model = ")).rejects.toThrow("is not valid TOML");
});

test("the home is created where it is missing, and only its owner can read the file", async () => {
  const { pathOf } = await machine();
  const file = pathOf("home/deeper/config.toml");
  await trustProject(file, "/x");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(pathOf("home/open.toml"), "", { mode: 0o644 });
  await trustProject(pathOf("home/open.toml"), "/x");
  expect(statSync(pathOf("home/open.toml")).mode & 0o777).toBe(0o600);
});

test("a link to the file stays a link", async () => {
  const { pathOf, home } = await machine();
  mkdirSync(join(home, "dotfiles"));
  writeFileSync(pathOf("home/dotfiles/agent.toml"), 'model = "x"\n');
  symlinkSync("dotfiles/agent.toml", pathOf("home/config.toml"));
  await trustProject(pathOf("home/config.toml"), "/x");
  expect(lstatSync(pathOf("home/config.toml")).isSymbolicLink()).toBe(true);
  expect(readFileSync(pathOf("home/dotfiles/agent.toml"), "utf8")).toContain('[projects."/x"]');
});

test("any project name and any file content: the project is trusted and nothing else changes", async () => {
  const { pathOf } = await machine();
  const file = pathOf("home/config.toml");
  const name = fc.string({ unit: "binary", minLength: 1, maxLength: 12 }).map((text) => `/${text}`);
  const rest = fc.dictionary(
    fc.string({ minLength: 1 }),
    fc.oneof(fc.string(), fc.integer(), fc.dictionary(fc.string({ minLength: 1 }), fc.boolean())),
  );
  await fc.assert(
    fc.asyncProperty(name, rest, async (root, table) => {
      const before = stringify(table);
      fc.pre(!("projects" in table) && before === stringify(parse(before)));
      writeFileSync(file, before);
      await trustProject(file, root);
      const after = readFileSync(file, "utf8");
      expect(after.startsWith(before)).toBe(true);
      expect(parse(after)).toEqual({ ...parse(before), projects: { [root]: { trust_level: "trusted" } } });
    }),
    { numRuns },
  );
});
