// Attempts to change what belongs to the user inside writable directories: repositories, rules and hooks.
import { existsSync, lstatSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type Attempt, runScript, whileOpen } from "../attempt.ts";
import type { EscapeFixture } from "../fixture.ts";

const isChanged = (...names: string[]) => {
  const path = join(...names);
  return !existsSync(path) || readFileSync(path, "utf8") !== "original";
};
const configChanged = whileOpen(({ root }) => isChanged(root, ".git/config"));

/** Each would run a program of the attacker's the next time the user calls git. */
const viaConfiguration = (name: string, setting: string): Attempt => ({
  name,
  knownGap: "protected-names",
  run: runScript(() => `git config --file .git/config ${setting} 'touch /tmp/pwned'; echo '${setting}' >> .git/config`),
  escaped: configChanged,
  ownSandbox: true,
  control: "harmless",
});

/** The hook would run outside the sandbox the next time. */
const onHookScript = (name: string, script: string): Attempt => ({
  name,
  knownGap: "hook-files",
  run: runScript(() => script),
  escaped: whileOpen(({ hookScript }) => isChanged(hookScript)),
  ownSandbox: true,
  control: "harmless",
});

export const onProtectedNames: Attempt[] = [
  onHookScript("change or remove what a hook runs", "echo x > tools/deep/hook.sh; rm -f tools/deep/hook.sh"),
  onHookScript(
    "put another file over what a hook runs",
    "echo x > new; mv -f new tools/deep/hook.sh; ln -sf /tmp/x tools/deep/hook.sh",
  ),
  onHookScript(
    "rename a directory above what a hook runs",
    "mv tools old; mv tools/deep tools/old; mkdir -p tools/deep; echo x > tools/deep/hook.sh",
  ),
  onHookScript(
    "replace a directory above what a hook runs by a link",
    "mkdir evil; echo x > evil/hook.sh; rm -rf tools/deep; ln -sfn ../evil tools/deep",
  ),
  viaConfiguration("plant a pager in the repository", "core.pager"),
  viaConfiguration("plant a file-system monitor in the repository", "core.fsmonitor"),
  viaConfiguration("plant a filter in the repository", "filter.x.clean"),
  viaConfiguration("plant an editor, a signer or an alias in the repository", "alias.status"),
  viaConfiguration("point the hooks of the repository elsewhere", "core.hooksPath"),
  {
    name: "change or plant a hook of the repository",
    knownGap: "protected-names",
    run: runScript(() => "echo changed > .git/hooks/kept; echo '#!/bin/sh' > .git/hooks/pre-commit"),
    escaped: whileOpen(
      ({ root }) => isChanged(root, ".git/hooks/kept") || existsSync(join(root, ".git/hooks/pre-commit")),
    ),
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "move or remove .git",
    knownGap: "protected-names",
    run: runScript(() => "mv .git elsewhere; rm -rf .git; rmdir .git; mkdir .git && echo x > .git/config"),
    escaped: configChanged,
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "change .git of another writable directory",
    knownGap: "protected-names",
    run: runScript(({ second }) => `echo changed > ${second}/.git/config`),
    escaped: whileOpen(({ second }) => isChanged(second, ".git/config")),
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "point the .git file of a linked working tree elsewhere",
    knownGap: "protected-names",
    run: runScript(
      ({ tree }) => `echo "gitdir: /tmp/evil" > ${tree}/.git; mv ${tree}/.git ${tree}/old; rm -f ${tree}/.git`,
    ),
    escaped: whileOpen(({ tree, root }) => readPointer(tree) !== `gitdir: ${root}/linked/worktrees/tree\n`),
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "change the repository a linked working tree belongs to",
    knownGap: "protected-names",
    run: runScript(() => "echo changed > linked/config; echo x > linked/worktrees/tree/config.worktree"),
    escaped: whileOpen(
      ({ root }) => isChanged(root, "linked/config") || existsSync(join(root, "linked/worktrees/tree/config.worktree")),
    ),
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "change the .git of a repository below, or put another in its place",
    knownGap: "protected-names",
    run: runScript(
      () =>
        "echo changed > below/nested/.git/config; mv below/nested moved; mv below moved; rm -rf below; mkdir -p below/nested/.git; echo changed > below/nested/.git/config",
    ),
    escaped: whileOpen(({ root }) => isChanged(root, "below/nested/.git/config")),
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "change or remove .agentcli",
    knownGap: "protected-names",
    run: runScript(() => "echo changed > .agentcli/config.toml; mv .agentcli elsewhere; rm -rf .agentcli"),
    escaped: whileOpen(({ root }) => isChanged(root, ".agentcli/config.toml")),
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "make a protected name that is missing",
    knownGap: "protected-names",
    run: runScript(({ outside }) => `rmdir .agents; mkdir -p .agents/skills; ln -s ${outside} .platform; ls -la`),
    escaped: whileOpen(({ root }) => existsSync(join(root, ".agents/skills")) || isLink(join(root, ".platform"))),
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "replace a .git that is a symlink",
    knownGap: "protected-names",
    prepare({ root, second }: EscapeFixture) {
      rmSync(join(root, ".git"), { recursive: true });
      symlinkSync(join(second, ".git"), join(root, ".git"));
    },
    run: runScript(() => "rm .git && mkdir .git"),
    escaped: whileOpen(({ root }) => !isLink(join(root, ".git"))),
    ownSandbox: true,
    control: "harmless",
  },
];

const readPointer = (tree: string) =>
  existsSync(join(tree, ".git")) ? readFileSync(join(tree, ".git"), "utf8") : undefined;
const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
