import { CommandError, parseCommandLine as parse } from "@agentcli/command-line";
import { helpText as helpOf } from "@agentcli/command-line/help";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decode } from "../src/exec/prompt-input.ts";
import { flags } from "../src/flags.ts";
import { helpLayout } from "../src/help-layout.ts";
import { readCommandLine } from "../src/read-command-line.ts";
import { runFlags } from "../src/run-flags.ts";
import { syntax, syntaxFor } from "../src/syntax.ts";

const parseCommandLine = (argv: string[]) => parse(argv, syntax);
const helpText = (topic: string[]) => helpOf(topic, syntax, helpLayout);

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };

function command(argv: string[]) {
  const line = parseCommandLine(argv);
  if (line.kind !== "command") throw new Error(`expected a command, got ${line.kind}`);
  return { path: line.command.path.join(" "), positionals: line.invocation.positionals, invocation: line.invocation };
}

describe("the command line", () => {
  test("takes flags before, between and after the words of a command", () => {
    for (const argv of [
      ["-m", "x", "exec", "resume", "--last", "go"],
      ["exec", "-m", "x", "resume", "--last", "go"],
      ["exec", "resume", "go", "--last", "-m", "x"],
      ["e", "resume", "--model=x", "--last", "go"],
    ]) {
      const parsed = command(argv);
      expect(parsed).toMatchObject({ path: "exec resume", positionals: ["go"] });
      expect(parsed.invocation.text("model")).toBe("x");
    }
  });

  test("keeps everything behind -- as it is", () => {
    expect(command(["exec", "--", "--json"]).positionals).toEqual(["--json"]);
  });

  test("of one word that only begins commands is answered with those", () => {
    for (const group of ["mcp", "config", "sandbox", "execpolicy"])
      expect(parseCommandLine([group])).toEqual({ kind: "incomplete", topic: [group] });
    expect(() => parseCommandLine(["mcp", "nonsense"])).toThrow(
      'There is no command "mcp nonsense". Choose one of: agentcli mcp list',
    );
    expect(command(["sessions"]).path).toBe("sessions list");
  });

  test("with a misspelt flag or second word is answered with the nearest one", () => {
    expect(() => parseCommandLine(["exec", "--hepl"])).toThrow("Did you mean --help?");
    expect(() => parseCommandLine(["sessions", "shwo"])).toThrow("Did you mean agentcli sessions show?");
    expect(() => parseCommandLine(["cache", "cler", "x"])).toThrow("Did you mean agentcli cache clear?");
    expect(() => parseCommandLine(["sessions", "xyzzy"])).toThrow(
      'agentcli sessions list does not take "xyzzy". See agentcli sessions list --help.',
    );
  });

  test("collects repeated overrides in order", () => {
    expect(command(["exec", "-c", "a=1", "x", "-c", "b=2"]).invocation.list("config")).toEqual(["a=1", "b=2"]);
  });

  test("knows the older name of --json", () => {
    expect(command(["exec", "--experimental-json", "x"]).invocation.has("json")).toBe(true);
  });

  test("either makes sense or is a problem that says so, whatever is typed", () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom("exec", "e", "resume", "-", "--", "help", "--last", "-c", "a=b", "--json=1", "-mx", "--no-json"),
      fc.constantFrom(...Object.keys(flags).map((name) => `--${name}`)),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (argv) => {
        try {
          parseCommandLine(argv);
        } catch (error) {
          expect(error).toBeInstanceOf(CommandError);
          expect((error as CommandError).message).not.toBe("");
        }
      }),
      runs,
    );
  });
});

test("the help of every topic is written from the tables", () => {
  expect(helpText([])).toContain("exec resume");
  expect(helpText(["exec"])).toContain("--sandbox MODE");
  expect(helpText(["mcp"])).toContain("mcp add NAME");
  expect(helpText(["mcp"])).not.toContain("exec resume");
});

describe("help", () => {
  const printed = (argv: string[]) => {
    const line = parseCommandLine(argv);
    if (line.kind !== "help") throw new Error(`expected help, got ${line.kind}`);
    return helpText(line.topic);
  };

  test("of every command names every flag it takes, each in one group, and its exit codes", () => {
    for (const { path, flags: own } of syntax.commands) {
      const help = printed(["help", ...path]);
      for (const name of own) {
        const { short, aliases = [] } = flags[name];
        expect(help.match(new RegExp(`^ +(-\\w, )?--${name}( |$)`, "gm")), `${path} --${name}`).toHaveLength(1);
        if (short) expect(help).toContain(`-${short}, --${name}`);
        for (const alias of aliases) expect(help).toContain(`--${alias}`);
      }
      expect(help).toContain("--help");
      expect(help).toContain("Exit codes:");
      for (const line of help.split("\n")) expect(line.length, line).toBeLessThanOrEqual(120);
    }
  });

  test("of a run has a line for each exit code, and groups its flags", () => {
    for (const path of [[], ["exec"], ["exec", "resume"], ["exec", "fork"], ["review"]]) {
      for (const { code, when } of Object.values(exitCodes)) {
        expect(printed(["help", ...path]).replace(/\n +/g, " ")).toContain(`${code}  ${when}`);
      }
    }
    expect(printed(["exec", "--help"])).toContain("Flags: limits:\n      --budget");
  });

  test("of the program shows every command below a title, and names every flag of a run", () => {
    const help = printed(["--help"]);
    for (const { path } of syntax.commands) expect(help).toMatch(new RegExp(`^  ${path.join(" ")}( |$)`, "m"));
    expect(help).toContain("Run the agent:\n  exec ");
    expect(help).not.toContain("Other commands:");
    for (const name of runFlags) expect(help).toContain(`--${name}`);
  });

  test("on an unknown command fails with the nearest name", () => {
    expect(() => printed(["help", "revew"])).toThrow('no command "revew". The nearest is "review"');
    expect(() => printed(["help", "resum"])).toThrow('The nearest is "resume"');
    expect(() => printed(["help", "mcp", "lst"])).toThrow('The nearest is "mcp list"');
    expect(() => printed(["help", "exec", "resum"])).toThrow('The nearest is "exec resume"');
    expect(() => parseCommandLine(["revew", "--help"])).toThrow("Did you mean review?");
  });

  test("on a word that is near to no command lists the commands instead of a far one", () => {
    expect(() => printed(["help", "nope"])).toThrow(
      /^There is no command "nope", and none .*: acp, agents, app-server, apply, .* exec, /,
    );
    expect(() => printed(["help", "x"])).toThrow('no command "x", and none');
    expect(() => printed(["help", "mcp", "frobnicate"])).toThrow("Choose one of: agentcli mcp list,");
  });

  test("is asked for with the words of a command, with or without its arguments", () => {
    expect(printed(["exec", "fix it", "--help"])).toBe(printed(["help", "exec"]));
    expect(printed(["e", "-h"])).toBe(printed(["help", "exec"]));
    expect(printed(["mcp", "--help"])).toContain("mcp add NAME");
    expect(printed(["help"])).toBe(printed([]));
  });
});

describe("the command line of a run", () => {
  const names = Object.keys(flags);
  const outcomeOf = async (read: () => unknown): Promise<unknown> => {
    try {
      const line = (await read()) as ReturnType<typeof parseCommandLine>;
      if (line.kind !== "command") return line;
      const { positionals, has, text } = line.invocation;
      return [line.command.path, positionals, names.map((name) => [name, has(name), text(name)])];
    } catch (error) {
      return (error as CommandError).message;
    }
  };

  test("means the same as where every command and flag is known, mistakes included", async () => {
    const word = fc.constantFrom("exec", "e", "review", "resume", "fork", "sessions", "fix it", "--", "-", "high", "");
    const flag = fc.constantFrom(...names, "nonsense", "modle", "yolo").map((name) => `--${name}`);
    const short = fc.constantFrom("-m", "-s", "-c", "-h", "-V", "-i", "-z", "-mx", "--sandbox=read-only");
    const first = fc.constantFrom("exec", "e", "review");
    const rest = fc.array(fc.oneof(word, flag, short), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(first, rest, async (name, others) => {
        const argv = [name, ...others];
        expect(await outcomeOf(() => readCommandLine(argv, {}))).toEqual(
          await outcomeOf(() => parse(argv, syntaxFor({}))),
        );
      }),
      runs,
    );
  });
});

describe("standard input", () => {
  test("is text in UTF-8 or UTF-16, or a problem", () => {
    expect(decode(Buffer.from("\ufeffgrüß"))).toBe("grüß");
    expect(decode(Buffer.from("\ufeffgrüß", "utf16le"))).toBe("grüß");
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        try {
          expect(typeof decode(Buffer.from(bytes))).toBe("string");
        } catch (error) {
          expect(error).toBeInstanceOf(CommandError);
        }
      }),
      runs,
    );
  });
});
