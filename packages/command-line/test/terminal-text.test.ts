// What a terminal is shown of texts by models, commands and other users.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { foreignTextFor, terminalText, textFor, withoutColours } from "@agentcli/command-line";
import { expect, test } from "vitest";

test.each([
  ["sets the clipboard", "\u001b]52;c;ZXZpbA==\u0007", "\\u001b]52;c;ZXZpbA==\\u0007"],
  ["sets the title", "\u001b]0;root\u001b\\", "\\u001b]0;root\\u001b\\"],
  ["clears the screen", "\u001b[2J\u001bc", "\\u001b[2J\\u001bc"],
  ["does so with an eight-bit control", "\u009b2J\u009d0;x\u009c", "\\u009b2J\\u009d0;x\\u009c"],
  ["takes back what was shown", "rm -rf /\b\b\b\u007f", "rm -rf /\\u0008\\u0008\\u0008\\u007f"],
  ["hides itself", "\u001b[8mhidden\u001b[0;30;40m too", "hidden too"],
  ["turns text around", "exe.\u202egnp\u202c \u2067x\u2069", "exe.\\u202egnp\\u202c \\u2067x\\u2069"],
  ["writes over its line", "harmful\rharmless\r\n", "harmful\nharmless\n"],
])("a text that %s is shown instead of obeyed", (_what, text, shown) => {
  expect(terminalText(text)).toBe(shown);
});

test("lines, tabs, other scripts, emoji and the program's own colours stay", () => {
  const text = "\u001b[1muser\u001b[22m\n\tשלום\u200f, Привет, 👩‍💻 \u001b[31mERROR:\u001b[39m\n";
  expect(terminalText(text)).toBe(text);
});

test("a colour that a text leaves open ends with it", () => {
  expect(terminalText("\u001b[31mred\u001b[2m dim")).toBe("\u001b[31mred\u001b[2m dim\u001b[22m\u001b[39m");
  expect(terminalText("\u001b[1mbold\u001b[22m \u001b[32mgreen\n")).toBe(
    "\u001b[1mbold\u001b[22m \u001b[32mgreen\n\u001b[39m",
  );
});

test("texts of others have no colours, at any depth", () => {
  const record = { text: "\u001b[1muser\u001b[22m", parts: [{ text: "\u001b[38;5;1mx" }], size: 3, none: null };
  expect(withoutColours(record)).toEqual({ text: "user", parts: [{ text: "x" }], size: 3, none: null });
  expect(withoutColours("\u001b[\u001b[1m1muser \u001b\u001b[31m[31mERROR:")).toBe("\\u001b[1muser \\u001b[31mERROR:");
  expect(foreignTextFor({ isTTY: true }, "\u001b[1muser\u001b]0;t")).toBe("user\\u001b]0;t");
  expect(foreignTextFor({}, "\u001b[1muser")).toBe("\u001b[1muser");
});

test("JSON stays the same JSON", () => {
  const value = { text: "\u001b]52;c;x\u0007 \u009b2J \u202e" };
  expect(JSON.parse(terminalText(JSON.stringify(value)))).toEqual(value);
});

test("a file or a pipe gets every byte", () => {
  const text = "\u001b[2J\r\n\u0007";
  expect(textFor({}, text)).toBe(text);
  expect(textFor({ isTTY: true }, text)).toBe("\\u001b[2J\n\\u0007");
});

/** Constant texts, protocols, and code for other processes. */
const writesItself = [
  "packages/cli/src/entry.ts",
  "packages/cli/src/executable/begin.ts",
  "packages/cli/src/commands/login/login.ts",
  "packages/platform-sdk/src/bridge/main.ts",
  "packages/platform/src/machines/docker/enter.ts",
  "packages/platform/src/runs/execution/sandbox/aws-profile.ts",
  "packages/action/src/privileges.ts",
];

test("no program writes to a terminal past the filter", () => {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const packages = ["action", "app-server", "cli", "host", "platform", "platform-sdk", "tui", "worker"];
  const sources = packages
    .map((name) => `packages/${name}/src`)
    .flatMap((directory) =>
      readdirSync(`${root}/${directory}`, { recursive: true, encoding: "utf8" }).map((path) => `${directory}/${path}`),
    )
    .filter((path) => path.endsWith(".ts"));
  const unfiltered = sources.filter((path) =>
    readFileSync(`${root}/${path}`, "utf8")
      .split("\n")
      .some((line) => /process\.std(?:out|err)\)?\.write\((?!(?:textFor|foreignTextFor)\()/.test(line)),
  );
  expect(sources.length).toBeGreaterThan(100);
  expect(unfiltered.toSorted()).toEqual(writesItself.toSorted());
});
