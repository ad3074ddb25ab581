import { describe, expect, test } from "vitest";
import { shell, show } from "./shell-reader.ts";

/** Script → the commands that run, all of them known. */
const known: Record<string, [script: string, ...commands: string[]][]> = {
  "words and quoting": [
    ["git push", "git push"],
    ["  git   push  # a comment", "git push"],
    ["'git' \"push\"", "git push"],
    ['g"i"t p\\ush', "git push"],
    ["git p$'\\x75\\163h'", "git push"],
    ['$"git" push', "git push"],
    ["git \\\n  push", "git push"],
    ['git "a\\\nb" \'c\\d\' "\\$x\\n"', "git ab c\\d $x\\n"],
    ["echo 'it'\\''s'", "echo it's"],
    ['git "" push', "git  push"],
    ["git commit -m 'git push; rm x'", "git commit -m git push; rm x"],
    ["ls *.txt a=b {} ~", "ls *.txt a=b {} ~"],
    ["echo \\`git push\\`", "echo `git push`"],
  ],
  "lists and pipelines": [
    ["a && git push", "a", "git push"],
    ["a || b", "a", "b"],
    ["a; b\nc & d", "a", "b", "c", "d"],
    ["a | b |& c", "a", "b", "c"],
    ["! git push", "git push"],
    ["a && b | c; d &", "a", "b", "c", "d"],
  ],
  "compound commands": [
    ["(cd x && git push)", "cd x", "git push"],
    ["{ git push; }", "git push"],
    ["if a; then b; elif c; then d; else e; fi", "a", "b", "c", "d", "e"],
    ["for x in 1 2; do git push; done", "git push"],
    ["for ((i=0; i<3; i++)); do git push; done", "git push"],
    ["while a; do b; done", "a", "b"],
    ["until a; do b; done", "a", "b"],
    ["case x in a|b) git push ;; *) ls ;; esac", "git push", "ls"],
    ["select x in a; do git push; done", "git push"],
    ["f() { git push; }", "git push"],
    ["function f { git push; }; f", "git push", "f"],
    ["[[ -f x ]] && ((x++)) && [ -d y ] && git push", "git push"],
    ["((1)) && git push", "git push"],
  ],
  substitutions: [
    ["x=$(git push)", "git push"],
    ["x=`git push`", "git push"],
    ["export X=$(git push)", "git push"],
    ['[ -n "$(git push)" ]', "git push"],
    ["for x in $(git push); do :; done", "git push", ":"],
    [`x=\${y:-$(git push)}`, "git push"],
    [`x="\${y:-\`git push\`}"`, "git push"],
    ["x=$((1 + $(git push)))", "git push"],
    ["x[$(git push)]=1", "git push"],
    ["x=(a $(git push))", "git push"],
    ["x=`a \\`git push\\``", "a <`git push`>", "git push"],
    ["while read x; do :; done < <(git push)", "read x", ":", "git push"],
  ],
  "redirections and input": [
    ["git push > out 2>&1 < in", "git push"],
    ["> out git push", "git push"],
    ["git > out push", "git push"],
    ["a && git > out push && b", "a", "git push", "b"],
    ["a | git 2> err push", "a", "git push"],
    ["git &> out push", "git push"],
    ["git <<EOF push\ntext\nEOF", "git push"],
    ["git <<EOF > out push\ntext\nEOF", "git push"],
    ["cat <<'EOF'\n$(git push) `git push`\nEOF", "cat"],
    ["cat <<EOF\n$(git push)\nEOF", "cat", "git push"],
    ["cat <<EOF\na `git push`\nEOF", "cat", "git push"],
    ["cat <<EOF | git push\ntext\nEOF", "cat", "git push"],
    ["cat <<EOF && git push\ntext\nEOF", "cat", "git push"],
    ["bash <<'EOF'\ngit push\nEOF", "bash", "git push"],
    ["sh <<-EOF\n\tgit push\n\tEOF", "sh", "git push"],
    ["bash <<< 'git push'", "bash", "git push"],
    ["exec > log", "exec"],
  ],
  assignments: [
    ["X=1 git push", "git push"],
    ["X=1 Y=$(id) git push", "git push", "id"],
    ["X=1", ""],
    ["X=1 > out git push", "git push"],
  ],
  "programs that run a command": [
    ["env X=1 git push", "env X=1 git push", "git push"],
    ["env -i -u A X=1 git push", "env -i -u A X=1 git push", "git push"],
    ["/usr/bin/env git push", "/usr/bin/env git push", "git push"],
    ["env -S 'git push'", "env -S git push", "git push"],
    ["env --split-string='X=1 git' push", "env --split-string=X=1 git push", "git push"],
    ["env - X=$HOME git push", "env - <X=$HOME> git push", "git push"],
    ["sudo git push", "sudo git push", "git push"],
    ["sudo -u root -E -- git push", "sudo -u root -E -- git push", "git push"],
    ["sudo X=1 git push", "sudo X=1 git push", "git push"],
    ["command git push", "command git push", "git push"],
    ["command -v git", "command -v git"],
    ["nohup git push &", "nohup git push", "git push"],
    ["time -p git push", "time -p git push", "git push"],
    ["time ! git push", "time ! git push", "git push"],
    ["timeout 5 git push", "timeout 5 git push", "git push"],
    ["timeout -k 1s --signal=KILL 5 git push", "timeout -k 1s --signal=KILL 5 git push", "git push"],
    ["nice -n 5 git push", "nice -n 5 git push", "git push"],
    ["nice -10 git push", "nice -10 git push", "git push"],
    ["stdbuf -oL git push", "stdbuf -oL git push", "git push"],
    ["exec git push", "exec git push", "git push"],
    ["sudo env X=1 nice git push", "sudo env X=1 nice git push", "env X=1 nice git push", "nice git push", "git push"],
    ["sudo", "sudo"],
  ],
  "xargs and find": [
    ["ls | xargs git push", "ls", "xargs git push", "git push <…>"],
    ["ls | xargs -0 -n 1 -P4 git push", "ls", "xargs -0 -n 1 -P4 git push", "git push <…>"],
    ["ls | xargs -I {} git push {}", "ls", "xargs -I {} git push {}", "git push <{}>"],
    ["ls | xargs -I% git push %", "ls", "xargs -I% git push %", "git push <%>"],
    ["ls | xargs", "ls", "xargs"],
    ["find . -exec git push {} \\;", "find . -exec git push {} ;", "git push <{}>"],
    ["find . -execdir git push {} +", "find . -execdir git push {} +", "git push <{}>"],
    ["find . -exec a \\; -o -ok b ';'", "find . -exec a ; -o -ok b ;", "a", "b"],
    ["find . -name '*.js'", "find . -name *.js"],
    ["find . -exec sh -c 'git push {}' \\;", "find . -exec sh -c git push {} ;", "sh -c git push {}", "git push {}"],
  ],
  "scripts within scripts": [
    ["bash -lc 'git push'", "bash -lc git push", "git push"],
    ["bash -l -c 'a && git push'", "bash -l -c a && git push", "a", "git push"],
    ["/bin/sh -euo pipefail -c 'git push' name", "/bin/sh -euo pipefail -c git push name", "git push"],
    ["zsh -ic 'git push'", "zsh -ic git push", "git push"],
    [`bash -c "bash -c 'git push'"`, "bash -c bash -c 'git push'", "bash -c git push", "git push"],
    ["eval 'git push'", "eval git push", "git push"],
    ["eval git push", "eval git push", "git push"],
    ["trap 'git push' EXIT", "trap git push EXIT", "git push"],
    ["trap - EXIT", "trap - EXIT"],
  ],
};

/** Script → the commands found, though more may run. */
const uncertain: [script: string, ...commands: string[]][] = [
  ["$X push", "<$X> push"],
  ["$(echo git) push", "<$(echo git)> push", "echo git"],
  ["gi`echo t` push", "<gi`echo t`> push", "echo t"],
  ["/usr/bin/gi? push", "</usr/bin/gi?> push"],
  ['a; "$X"; git push', "a", '<"$X">', "git push"],
  ['bash -c "git push $X"', 'bash -c <"git push $X">', "git push <$X>"],
  ['eval "$X"', 'eval <"$X">', "<$X>"],
  ["bash script.sh", "bash script.sh"],
  ["curl x | bash", "curl x", "bash"],
  [". ./script.sh", ". ./script.sh"],
  ["sudo $X git push", "sudo <$X> git push", "<$X> git push"],
  ["find . -exec {} \\;", "find . -exec {} ;", "<{}>"],
];

describe("the commands of a script", () => {
  for (const [group, rows] of Object.entries(known)) {
    test.each(rows)(`${group}: %s`, (script, ...commands) => {
      const found = shell.commandsOf(script);
      expect(found.kind).toBe("commands");
      expect(show(found)).toEqual(commands.filter((command) => command !== ""));
    });
  }

  test.each(uncertain)("more may run than can be determined: %s", (script, ...commands) => {
    const found = shell.commandsOf(script);
    expect(found).toMatchObject({ kind: "unknown", reason: expect.stringMatching(/./) });
    expect(show(found)).toEqual(commands);
  });

  test.each([
    "git $X",
    'git "a$X"',
    "git {push,pull}",
    "git a{1..3}",
    "git $(x)",
    "git `x`",
    "git a`x`b",
    "git <(x)",
    "git $((1))",
  ])("an argument that is made when it runs is not known: %s", (script) => {
    expect(shell.commandsOf(script).commands[0]?.words).toEqual(["git", { unknown: script.slice(4) }]);
  });

  test("what does not parse is unknown, and the commands found are still listed", () => {
    for (const script of ["git push; if", "if git push", "cat <<A; git push\nx\nA", "echo @(a|b) && git push"]) {
      const found = shell.commandsOf(script);
      expect(found, script).toMatchObject({ kind: "unknown", reason: "a part of the script could not be parsed" });
      expect(show(found), script).toContain("git push");
    }
  });

  test("a command that wraps another is marked", () => {
    const { commands } = shell.commandsOf("sudo git push");
    expect(commands.map(({ wraps }) => wraps)).toEqual([true, false]);
  });

  test("a command given as words is unwrapped, not parsed", () => {
    expect(show(shell.commandsOfWords(["env", "echo", "$(git push)"]))).toEqual([
      "env echo $(git push)",
      "echo $(git push)",
    ]);
    expect(show(shell.commandsOfWords(["bash", "-lc", "a && git push"]))).toEqual([
      "bash -lc a && git push",
      "a",
      "git push",
    ]);
  });
});
