// Git that agentcli itself runs after the commands runs nothing that an agent planted: in `.git`, which Landlock does not
// protect, or in a program that the settings of the user name.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { type Harness, openHarness } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type OrdinaryUser, ordinaryUser } from "./ordinary-user.ts";
import { pathWithoutNamespaces } from "./without-namespaces.ts";

let user: OrdinaryUser;
beforeAll(() => {
  user = ordinaryUser();
});
afterAll(() => user.remove());

/** A filter of the repository, and a remote that has the objects that are missing: each leaves a mark outside of the sandbox. */
const filter = `git config filter.x.clean "$PROGRAM"; git config filter.x.required true; git config "filter.a=b.clean" "$PROGRAM"
mkdir -p .git/info; printf '* filter=x\\nb.txt filter=a=b\\n' > .git/info/attributes; echo two >> a.txt; echo two >> b.txt`;
const remote = `git config protocol.ext.allow always; git config remote.origin.url "ext::$PROGRAM"
git config remote.origin.promisor true; git config extensions.partialClone origin; git config core.repositoryformatversion 1
blob=$(git rev-parse HEAD:a.txt); rm -f ".git/objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-)"; echo two >> a.txt`;
/** Another repository in the worktree, with the commit and the branch that the first one has. */
const replaced = `objects=$(git rev-parse --git-common-dir)/objects; base=$(git rev-parse HEAD); branch=$(git symbolic-ref HEAD)
rm .git; git init -q; echo $objects > .git/objects/info/alternates; echo $base > .git/HEAD
mkdir -p .git/$(dirname $branch); echo $base > .git/$branch; git config core.fileMode false; git read-tree HEAD; touch a.txt
git config filter.x.clean "$PROGRAM"; mkdir -p .git/info; echo '* filter=x' > .git/info/attributes`;

/** Landlock shows no other directory of /tmp, where the worktree could not be used. */
async function cloneElsewhere({ repository, git }: Harness): Promise<string> {
  const directory = mkdtempSync("/var/tmp/host-git-");
  onTestFinished(() => rmSync(directory, { recursive: true }));
  await git("clone", "-q", repository, directory);
  return directory;
}

const attacks: [string, string, string[]][] = [
  ["the patch of a run that was stopped", filter, ["--budget", "turns=1"]],
  ["the patch of a run that was stopped, for want of objects", remote, ["--budget", "turns=1"]],
  ["the end of a run in a worktree", replaced, ["--worktree"]],
];

describe.each(["this user", "an ordinary user"] as const)("for %s", (as) => {
  test.each(attacks)("%s runs nothing that the repository names", async (_, attack, flags) => {
    const cmd = `PROGRAM=$PWD/planted.sh; chmod +x planted.sh; ${attack}; echo planted`;
    const harness = await openHarness({
      replies: [call("exec_command", { cmd }), replyWith("Done.")],
      files: { "a.txt": "one\n", "b.txt": "one\n", "planted.sh": '#!/bin/sh\necho ran >> "$MARK"\nexit 1\n' },
    });
    const { home } = harness;
    const repository = await cloneElsewhere(harness);
    const mark = join(home, "ran");
    if (as === "an ordinary user") for (const directory of [repository, home]) user.own(directory);
    const args = ["exec", "-s", "workspace-write", "--sandbox-min", "landlock", ...flags, "go on"];
    const env = { PATH: pathWithoutNamespaces(), HOME: home, AGENT_HOME: home, MARK: mark, SHELL: "/bin/bash" };
    const { stdout, stderr } =
      as === "this user"
        ? await harness.run(args, { cwd: repository, env })
        : await user.run(args, { cwd: repository, env });
    expect(`${stdout}${stderr}`).toMatch(/changed the git repository|replaced the \.git/);
    expect(existsSync(mark) ? readFileSync(mark, "utf8") : "").toBe("");
  });

  test("a filter of the user that an agent rewrote or committed does not run for a stopped run, a review or a worktree", async () => {
    const evil = `'#!/bin/sh\\necho ran >> "$MARK"\\ncat\\n'`;
    const rewrite = `printf ${evil} > scripts/inner.sh; echo two >> a.txt`;
    const commit = `blob=$(printf ${evil} | git hash-object -w --stdin) && git update-index --cacheinfo 100755,$blob,scripts/smudge.sh && git commit -qm change`;
    const harness = await openHarness({
      replies: [
        call("exec_command", { cmd: `${commit}; ${rewrite}; echo planted` }),
        replyWith("Done."),
        replyWith("Done."),
      ],
      files: {
        ...{ "a.txt": "one\n", ".gitattributes": "*.txt filter=x\n", "scripts/inner.sh": "#!/bin/sh\ncat\n" },
        "scripts/smudge.sh": "#!/bin/sh\ncat\n",
      },
    });
    const { home } = harness;
    const repository = await cloneElsewhere(harness);
    const settings: [string, string][] = [
      // In words that the sandbox cannot follow, or it would protect the directory.
      ["filter.x.clean", `D=scr; cd "\${D}ipts" && sh inner.sh`],
      ["filter.x.smudge", "sh scripts/smudge.sh"],
      ["user.name", "T"],
      ["user.email", "t@example.org"],
    ];
    for (const [name, value] of settings) await harness.git("-C", repository, "config", name, value);
    if (as === "an ordinary user") for (const directory of [repository, home]) user.own(directory);
    const mark = join(home, "ran");
    const env = { PATH: process.env.PATH ?? "", HOME: home, AGENT_HOME: home, MARK: mark, SHELL: "/bin/bash" };
    const run = (...args: string[]) =>
      as === "this user" ? harness.run(args, { cwd: repository, env }) : user.run(args, { cwd: repository, env });
    await run("exec", "-s", "workspace-write", "--budget", "turns=1", "go on");
    expect(readFileSync(join(repository, "scripts/inner.sh"), "utf8")).toContain("$MARK");
    await run("exec", "review", "--uncommitted");
    const { stderr } = await run("exec", "-s", "workspace-write", "--worktree", "go on");
    expect(stderr).toContain("Working in a new worktree");
    expect(existsSync(mark) ? readFileSync(mark, "utf8") : "").toBe("");
  });
});
