import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { RuleLayer } from "../src/config/rule-files.ts";
import { loadRules } from "../src/rules/load.ts";

/** Files of one or more layers, by path; the first part of the path is the layer. */
async function layers(files: Record<string, string>, kinds: Record<string, RuleLayer["kind"]> = { home: "user" }) {
  const { path, remove } = await temporaryDirectory(files);
  onTestFinished(remove);
  const found = Object.entries(kinds).map(([name, kind]) => ({ directory: join(path, name), kind }));
  const { rules, problems } = loadRules({ layers: found });
  return { path, rules, problems: problems.map((problem) => problem.replaceAll(`${path}/`, "")) };
}

const problemsOf = async (text: string) => (await layers({ "home/rules/a.rules": text })).problems;

describe("rules files", () => {
  test("are read in the order of layers and names; other files are not", async () => {
    const rule = (name: string) => `prefix_rule(pattern = ["${name}"])`;
    const { rules, problems } = await layers(
      {
        "home/rules/b.rules": rule("b"),
        "home/rules/a.rules": rule("a"),
        "home/rules/c.txt": "not rules",
        "home/rules/deeper/d.rules": "not read",
        "etc/rules/z.rules": rule("z"),
      },
      { etc: "system", home: "user", absent: "project-trusted" },
    );
    expect(problems).toEqual([]);
    expect(rules.prefixes.map((prefix) => prefix.pattern)).toEqual([[["z"]], [["a"]], [["b"]]]);
  });

  test("define rules, with defaults", async () => {
    const { rules, path } = await layers({
      "home/rules/a.rules": `
prefix_rule(["git", ["push", "fetch"]], "forbidden", justification = "use the bot")
prefix_rule(pattern = ("ls",), justification = None)
network_rule(host = "Example.com", protocol = "https", decision = "deny", justification = "why")
host_executable(name = "git", paths = ["/usr/bin/git"])
`,
    });
    const file = join(path, "home/rules/a.rules");
    expect(rules).toEqual({
      prefixes: [
        {
          kind: "prefix",
          pattern: [["git"], ["push", "fetch"]],
          decision: "forbidden",
          justification: "use the bot",
          origin: { file, line: 2 },
          rank: 2,
        },
        {
          kind: "prefix",
          pattern: [["ls"]],
          decision: "allow",
          justification: null,
          origin: { file, line: 3 },
          rank: 2,
        },
      ],
      networks: [
        {
          kind: "network",
          host: "example.com",
          protocol: "https",
          decision: "deny",
          justification: "why",
          origin: { file, line: 4 },
          rank: 2,
        },
      ],
      executables: [{ kind: "executable", name: "git", paths: ["/usr/bin/git"], origin: { file, line: 5 }, rank: 2 }],
    });
  });

  test("of an untrusted project may forbid and require approval, but not allow", async () => {
    const text = `
prefix_rule(["a"])
prefix_rule(["b"], "prompt")
prefix_rule(["c"], "forbidden")
network_rule("a.example", "http", "allow")
network_rule("b.example", "http", "deny")
host_executable("git", ["/usr/bin/git"])
`;
    const files = { "project/rules/a.rules": text };
    const untrusted = await layers(files, { project: "project-untrusted" });
    expect(untrusted.rules.prefixes.map(({ decision }) => decision)).toEqual(["prompt", "forbidden"]);
    expect(untrusted.rules.networks.map(({ decision }) => decision)).toEqual(["deny"]);
    expect(untrusted.rules.executables).toEqual([]);
    const trusted = await layers(files, { project: "project-trusted" });
    expect(trusted.rules.prefixes.map(({ decision }) => decision)).toEqual(["allow", "prompt", "forbidden"]);
    expect(trusted.rules.executables).toHaveLength(1);
  });
});

describe("an invalid rule", () => {
  const file = "home/rules/a.rules";

  test.each([
    [`prefix_rule()`, "1:1: prefix_rule: missing required argument pattern"],
    [`prefix_rule(pattern = [])`, "1:23: pattern is empty and would fit every command"],
    [`prefix_rule(pattern = "git push")`, "1:23: pattern must be a list"],
    [`prefix_rule(["git", []])`, "1:21: a place of pattern has no alternatives"],
    [`prefix_rule(["git", 3])`, "1:21: a place of pattern must be a string or a list of strings"],
    [`prefix_rule(["git", ["a", ["b"]]])`, "1:27: an element of a place of pattern must be a string"],
    [`prefix_rule(["git", ""])`, "1:21: a word of pattern is empty"],
    [`prefix_rule(["a"], "never")`, "1:20: decision must be one of allow, prompt, forbidden"],
    [`prefix_rule(["a"], justification = " ")`, "1:36: justification is empty"],
    [
      `prefix_rule(["a"], why = "x")`,
      "1:20: prefix_rule has no argument why; it has pattern, decision, match, not_match, justification",
    ],
    [`prefix_rule(["a"], pattern = ["b"])`, '1:20: duplicate argument "pattern"'],
    [`host_executable("git", ["git"])`, "1:24: git is not an absolute path"],
    [`host_executable("git", ["/usr/bin/hub"])`, "1:24: /usr/bin/hub does not end in git"],
    [`host_executable("/usr/bin/git", [])`, "1:17: name is a program's name without its directory"],
    [`host_executable("a", ["/a"], "b")`, "1:30: host_executable takes 2 arguments at most"],
    [`network_rule("a", "ftp", "deny")`, "1:19: protocol must be one of http, https, socks5_tcp, socks5_udp"],
    [
      `network_rule("https://a", "https", "deny")`,
      `1:14: host "https://a" is not the name or address of one host, without scheme or port`,
    ],
    [`network_rule("a", "http")`, "1:1: network_rule: missing required argument decision"],
    [`allow_all()`, "1:1: unknown function allow_all; expected one of: prefix_rule, network_rule, host_executable"],
    [`constructor()`, "1:1: unknown function constructor; expected one of: prefix_rule, network_rule, host_executable"],
  ])("%s", async (text, problem) => expect(await problemsOf(text)).toEqual([`${file}:${problem}`]));

  test("every invalid rule of every file is reported, and the valid ones still count", async () => {
    const { rules, problems } = await layers({
      [file]: `prefix_rule([])\nprefix_rule(["a"])\nnothing()`,
      "home/rules/b.rules": "(",
    });
    expect(problems.map((problem) => problem.split(": ")[0])).toEqual([
      `${file}:1:13`,
      `${file}:3:1`,
      "home/rules/b.rules:1:1",
    ]);
    expect(rules.prefixes).toHaveLength(1);
  });
});

describe("examples", () => {
  test("that match are silent, as word lists or as text", async () => {
    const text = `prefix_rule(
  pattern = ["git", ["push", "fetch"]],
  match = ["git push", "git 'fetch' --all", ["git", "push", "a b"]],
  not_match = ["git status", ["git"], "git pushed", "hub push"],
)`;
    expect(await problemsOf(text)).toEqual([]);
  });

  test.each([
    [
      `match = ["git status"]`,
      "the pattern does not match `git status`, which is listed in match. Correct the pattern or the example.",
    ],
    [
      `not_match = [["git", "push", "x"]]`,
      "the pattern matches `git push x`, which is listed in not_match. Correct the pattern or the example.",
    ],
    [`match = ["git 'push"]`, "the example has a quotation that is not closed"],
    [`match = [""]`, "the example is empty"],
    [`match = [[]]`, "the example is empty"],
    [`match = "git push"`, "match must be a list"],
    [`match = [3]`, "an example in match must be a string or a list of strings"],
  ])("that do not are load errors: %s", async (examples, problem) => {
    const [only] = await problemsOf(`prefix_rule(\n  pattern = ["git", "push"],\n  ${examples},\n)`);
    expect(only).toMatch(/^home\/rules\/a\.rules:3:\d+: /);
    expect(only).toContain(problem);
  });
});

describe("paths that are not files", () => {
  test("a folder, a pipe and a broken link are problems, and do not block", async () => {
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    mkdirSync(join(path, "rules/a.rules"), { recursive: true });
    execFileSync("mkfifo", [join(path, "rules/b.rules")]);
    execFileSync("ln", ["-s", "nowhere", join(path, "rules/c.rules")]);
    const { problems } = loadRules({ layers: [{ directory: path, kind: "user" }] });
    expect(problems).toEqual([
      `${path}/rules/a.rules:1:1: this is not a file`,
      `${path}/rules/b.rules:1:1: this is not a file`,
      expect.stringContaining(`${path}/rules/c.rules:1:1: the file cannot be read`),
    ]);
  });

  test("a file above a megabyte is rejected", async () => {
    const { problems } = await layers({ "home/rules/a.rules": "#".repeat(1_048_577) });
    expect(problems).toEqual(["home/rules/a.rules:1:1: the file is larger than 1048576 bytes"]);
  });
});
