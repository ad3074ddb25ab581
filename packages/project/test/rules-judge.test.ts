import { type Guard, policyGuard } from "@agentcli/engine";
import type { TurnSettings } from "@agentcli/protocol";
import { temporaryDirectory } from "@agentcli/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { RuleLayer } from "../src/config/rule-files.ts";
import { judge, loadRules, type RuleSet, rulesGuard } from "../src/rules/index.ts";
import { shell } from "./shell-reader.ts";

async function rulesFrom(texts: Partial<Record<RuleLayer["kind"], string>>): Promise<RuleSet> {
  const files = Object.fromEntries(Object.entries(texts).map(([kind, text]) => [`${kind}/rules/a.rules`, text]));
  const { path, remove } = await temporaryDirectory(files);
  onTestFinished(remove);
  const layers = (Object.keys(texts) as RuleLayer["kind"][]).map((kind) => ({ directory: `${path}/${kind}`, kind }));
  const { rules, problems } = loadRules({ layers });
  expect(problems).toEqual([]);
  return rules;
}

const sampleRules = `
prefix_rule(["git", "push"], "forbidden", justification = "use the bot")
prefix_rule(["git", ["status", "diff"]])
prefix_rule(["npm", "publish"], "prompt")
prefix_rule(["ls"])
prefix_rule(["rm"], "forbidden")
`;
const decide = async (script: string, text = sampleRules) =>
  judge(await rulesFrom({ user: text }), shell.commandsOf(script));

describe("the decision", () => {
  test.each([
    ["git status", "allow"],
    ["git diff --stat && ls -l", "allow"],
    ["sudo git status", "allow"],
    ["bash -lc 'ls; git status'", "allow"],
    ["git status; make", "unmatched"],
    ["make", "unmatched"],
    ["git", "unmatched"],
    ["git $VERB", "unmatched"],
    ["ls; $X", "unmatched"],
    ["ls; if", "unmatched"],
    ["", "unmatched"],
    ["npm publish", "prompt"],
    ["git status; npm publish; $X", "prompt"],
    ["git push origin", "forbidden"],
    ["npm publish; git push; ls", "forbidden"],
    ["a && git push", "forbidden"],
    ["bash -lc 'git push'", "forbidden"],
    ["env X=1 git push", "forbidden"],
    ["ls | xargs git push", "forbidden"],
    ["find . -exec git push {} \\;", "forbidden"],
    ["echo $(git push)", "forbidden"],
    ["$X; git push", "forbidden"],
    ["git push; if", "forbidden"],
    ["f() { git push; }", "forbidden"],
    ["rm x", "forbidden"],
    ["rmdir x", "unmatched"],
  ])("on %s is %s", async (script, decision) => expect((await decide(script)).decision).toBe(decision));

  test("comes with every matching rule, the matched words and the command", async () => {
    const { matches } = await decide("git status && npm publish now");
    expect(matches).toMatchObject([
      { prefix: ["git", "status"], rule: { decision: "allow" }, command: { words: ["git", "status"] } },
      { prefix: ["npm", "publish"], rule: { decision: "prompt" }, command: { words: ["npm", "publish", "now"] } },
    ]);
  });
});

describe("an absolute path", () => {
  test("is judged by the rules for its name", async () => {
    const { decision, matches } = await decide("/usr/bin/git push");
    expect(decision).toBe("forbidden");
    expect(matches).toMatchObject([{ prefix: ["git", "push"], resolvedProgram: "/usr/bin/git" }]);
    expect(matches[0]?.command.words).toEqual(["/usr/bin/git", "push"]);
    expect((await decide("./git push")).decision).toBe("unmatched");
  });

  test("has rules of its own before those for its name", async () => {
    const text = `prefix_rule(["git"], "forbidden")\nprefix_rule(["/usr/bin/git", "log"])`;
    expect((await decide("/usr/bin/git log", text)).decision).toBe("allow");
    expect((await decide("/usr/bin/git push", text)).decision).toBe("forbidden");
  });

  test("counts as the program only if it is listed, where there is a list", async () => {
    const text = `prefix_rule(["git"], "forbidden")\nhost_executable("git", ["/usr/bin/git"])`;
    expect((await decide("/usr/bin/git push", text)).decision).toBe("forbidden");
    expect((await decide("/usr/bin/../bin/git push", text)).decision).toBe("forbidden");
    expect((await decide("/opt/git push", text)).decision).toBe("unmatched");
    expect((await decide("git push", text)).decision).toBe("forbidden");
  });

  test("cannot be excluded from a rule by a list of lower rank", async () => {
    const list = `host_executable("git", ["/opt/git"])`;
    const forbid = `prefix_rule(["git"], "forbidden")`;
    const command = shell.commandsOf("/usr/bin/git push");
    expect(judge(await rulesFrom({ system: forbid, "project-trusted": list }), command).decision).toBe("forbidden");
    expect(judge(await rulesFrom({ system: list, "project-trusted": forbid }), command).decision).toBe("unmatched");
  });
});

const settings = (over: Partial<TurnSettings> = {}): TurnSettings => ({
  model: "m",
  provider: "p",
  cwd: "/",
  shell: "/bin/bash",
  sandbox: "read-only",
  approval: "never",
  ...over,
});

async function guardOf(text: string): Promise<Guard & { opened(): number }> {
  let opened = 0;
  const openShellReader = async () => {
    opened++;
    return shell;
  };
  return { ...rulesGuard(await rulesFrom({ user: text }), policyGuard, { openShellReader }), opened: () => opened };
}

const command = (cmd: string, more: object = {}) => ({ name: "exec_command", args: { cmd, ...more } });

describe("the guard", () => {
  test("names the command and the reason when a rule forbids it", async () => {
    const guard = await guardOf(sampleRules);
    expect(await guard.admit(command("a && git push 'to x' $Y"), settings())).toEqual({
      kind: "declined",
      reason: "`git push 'to x' $Y` rejected: use the bot",
    });
    expect(await guard.admit(command("rm -rf x"), settings())).toEqual({
      kind: "declined",
      reason: "`rm -rf x` rejected: policy forbids commands starting with `rm`",
    });
  });

  test("declines what needs an approval in an unattended run", async () => {
    const guard = await guardOf(sampleRules);
    expect(await guard.admit(command("npm publish"), settings())).toEqual({
      kind: "declined",
      reason: "approval required by policy, but AskForApproval is set to Never",
    });
    expect(await guard.admit(command("npm publish"), settings({ approval: "on-request" }))).toEqual({
      kind: "unapproved",
      reason: "`npm publish` needs an approval by policy and no user is present to give one; do without it",
    });
  });

  test("allows what a rule allows and what no rule matches", async () => {
    const guard = await guardOf(sampleRules);
    for (const cmd of ["git status", "make", "$X", "if"]) {
      expect(await guard.admit(command(cmd), settings()), cmd).toEqual({ kind: "allowed" });
    }
  });

  test("never widens the sandbox: an allowed command that requests escalation is judged as before", async () => {
    const guard = await guardOf(sampleRules);
    const escalated = command("git status", { sandbox_permissions: "require_escalated" });
    for (const approval of ["never", "on-request"] as const) {
      const before = await policyGuard.admit(escalated, settings({ approval }));
      expect(before.kind).toBe(approval === "never" ? "declined" : "unapproved");
      expect(await guard.admit(escalated, settings({ approval }))).toEqual(before);
    }
    const forbidden = command("git push", { sandbox_permissions: "require_escalated" });
    expect(await guard.admit(forbidden, settings({ sandbox: "danger-full-access" }))).toMatchObject({
      reason: "`git push` rejected: use the bot",
    });
  });

  test("a shell the model chose is judged too, the user's own is not", async () => {
    const guard = await guardOf(`prefix_rule(["zsh"], "forbidden")\nprefix_rule(["git", "push"], "forbidden")`);
    expect(await guard.admit(command("ls", { shell: "/bin/zsh" }), settings())).toMatchObject({ kind: "declined" });
    expect(await guard.admit(command("git push", { shell: "/bin/sh" }), settings())).toMatchObject({
      kind: "declined",
    });
    expect(await guard.admit(command("push", { shell: "git" }), settings())).toEqual({ kind: "allowed" });
    expect(await guard.admit(command("ls"), settings({ shell: "/bin/zsh" }))).toEqual({ kind: "allowed" });
  });

  test("opens the shell reader once, for the first command", async () => {
    const guard = await guardOf(sampleRules);
    expect(await guard.admit({ name: "apply_patch", args: { input: "" } }, settings())).toMatchObject({
      kind: "declined",
    });
    expect(guard.opened()).toBe(0);
    await guard.admit(command("ls"), settings());
    await guard.admit(command("ls"), settings());
    expect(guard.opened()).toBe(1);
  });
});
