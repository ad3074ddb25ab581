// A new command is a folder with its table entry and its code, plus one line in the program's table.
import { CommandError, exitNameOf, parseCommandLine, type Syntax } from "@agentcli/command-line";
import { completionScript } from "@agentcli/command-line/completion";
import { type HelpLayout, helpText } from "@agentcli/command-line/help";
import { describe, expect, test } from "vitest";
import { greetCommands } from "./toy/greet/index.ts";

type ToyCommand = (typeof greetCommands)[number];

const syntax: Syntax<ToyCommand> = {
  program: "toy",
  commands: [...greetCommands],
  flags: {
    loud: { short: "l", help: "In capital letters" },
    help: { short: "h", help: "Show help" },
    version: { short: "V", help: "Show the version" },
  },
};

const layout: HelpLayout = {
  summary: "a program for this test",
  commandGroups: [],
  flagGroups: [],
  flags: ["help", "version"],
  runs: [],
  exitCodes: "0 success.",
  footer: "Be kind.",
};

async function run(...argv: string[]): Promise<{ code: number; printed: string }> {
  const line = parseCommandLine(argv, syntax);
  if (line.kind !== "command") throw new Error(`expected a command, got ${line.kind}`);
  let printed = "";
  const print = (text: string) => {
    printed += text;
  };
  const code = await (await line.command.load()).run(line.invocation, { print });
  return { code, printed };
}

describe("a command that is added to the table", () => {
  test("runs with its arguments and flags", async () => {
    expect(await run("greet", "person", "Ada")).toEqual({ code: 0, printed: "Hello Ada\n" });
    expect(await run("--loud", "greet", "person", "Ada")).toEqual({ code: 0, printed: "HELLO ADA\n" });
  });

  test("is in the help, and in the completion of every shell", () => {
    expect(helpText([], syntax, layout)).toContain("greet person  Greet a person");
    expect(helpText(["greet", "person"], syntax, layout)).toContain("Usage: toy greet person NAME");
    for (const shell of ["bash", "zsh", "fish"]) expect(completionScript(shell, syntax)).toContain("person");
    expect(completionScript("powershell", syntax)).toBeNull();
  });

  test("is named when only its first word is given, or one is misspelt", () => {
    expect(parseCommandLine(["greet"], syntax)).toEqual({ kind: "incomplete", topic: ["greet"] });
    expect(() => parseCommandLine(["greet", "planet"], syntax)).toThrow("Choose one of: toy greet person.");
    expect(() => parseCommandLine(["gret"], syntax)).toThrow("Did you mean greet?");
    expect(() => parseCommandLine(["greet", "person", "--lout"], syntax)).toThrow("Did you mean --loud?");
  });
});

describe("an error", () => {
  test("that carries the name of an exit code ends the program with it", async () => {
    const error = await run("greet", "person").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CommandError);
    expect(exitNameOf(error)).toBe("usage");
    expect(exitNameOf(Object.assign(new Error("full"), { exit: "sandbox" }))).toBe("sandbox");
  });

  test("without one is a bug", () => {
    expect(exitNameOf(new Error("oops"))).toBeNull();
    expect(exitNameOf(Object.assign(new Error("odd"), { exit: "toString" }))).toBeNull();
    expect(exitNameOf({ exit: "usage" })).toBeNull();
  });
});
