// Attempts to change what belongs to the user inside writable directories: repositories, rules and hooks.
import { existsSync, lstatSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type Attempt, byScript, seen } from "../attempt.ts";
import type { World } from "../world.ts";

const isChanged = (...names: string[]) => {
  const path = join(...names);
  return !existsSync(path) || readFileSync(path, "utf8") !== "original";
};
const configChanged = seen(({ root }) => isChanged(root, ".git/config"));

/** Each would run a program of the attacker's the next time the user calls git. */
const viaConfiguration = (name: string, setting: string): Attempt => ({
  name,
  admission: "protected-names",
  carryOut: byScript(
    () => `git config --file .git/config ${setting} 'touch /tmp/pwned'; echo '${setting}' >> .git/config`,
  ),
  escaped: configChanged,
  alone: true,
  control: "harmless",
});

export const onProtectedNames: Attempt[] = [
  viaConfiguration("plant a pager in the repository", "core.pager"),
  viaConfiguration("plant a file-system monitor in the repository", "core.fsmonitor"),
  viaConfiguration("plant a filter in the repository", "filter.x.clean"),
  viaConfiguration("plant an editor, a signer or an alias in the repository", "alias.status"),
  viaConfiguration("point the hooks of the repository elsewhere", "core.hooksPath"),
  {
    name: "change or plant a hook of the repository",
    admission: "protected-names",
    carryOut: byScript(() => "echo changed > .git/hooks/kept; echo '#!/bin/sh' > .git/hooks/pre-commit"),
    escaped: seen(({ root }) => isChanged(root, ".git/hooks/kept") || existsSync(join(root, ".git/hooks/pre-commit"))),
    alone: true,
    control: "harmless",
  },
  {
    name: "move or remove .git",
    admission: "protected-names",
    carryOut: byScript(() => "mv .git elsewhere; rm -rf .git; rmdir .git; mkdir .git && echo x > .git/config"),
    escaped: configChanged,
    alone: true,
    control: "harmless",
  },
  {
    name: "change .git of another writable directory",
    admission: "protected-names",
    carryOut: byScript(({ second }) => `echo changed > ${second}/.git/config`),
    escaped: seen(({ second }) => isChanged(second, ".git/config")),
    alone: true,
    control: "harmless",
  },
  {
    name: "point the .git file of a linked working tree elsewhere",
    admission: "protected-names",
    carryOut: byScript(
      ({ tree }) => `echo "gitdir: /tmp/evil" > ${tree}/.git; mv ${tree}/.git ${tree}/old; rm -f ${tree}/.git`,
    ),
    escaped: seen(({ tree, root }) => readPointer(tree) !== `gitdir: ${root}/linked/worktrees/tree\n`),
    alone: true,
    control: "harmless",
  },
  {
    name: "change the repository a linked working tree belongs to",
    admission: "protected-names",
    carryOut: byScript(() => "echo changed > linked/config; echo x > linked/worktrees/tree/config.worktree"),
    escaped: seen(
      ({ root }) => isChanged(root, "linked/config") || existsSync(join(root, "linked/worktrees/tree/config.worktree")),
    ),
    alone: true,
    control: "harmless",
  },
  {
    name: "change or remove .agentcli",
    admission: "protected-names",
    carryOut: byScript(() => "echo changed > .agentcli/config.toml; mv .agentcli elsewhere; rm -rf .agentcli"),
    escaped: seen(({ root }) => isChanged(root, ".agentcli/config.toml")),
    alone: true,
    control: "harmless",
  },
  {
    name: "make a protected name that is missing",
    admission: "protected-names",
    carryOut: byScript(({ outside }) => `rmdir .agents; mkdir -p .agents/skills; ln -s ${outside} .platform; ls -la`),
    escaped: seen(({ root }) => existsSync(join(root, ".agents/skills")) || isLink(join(root, ".platform"))),
    alone: true,
    control: "harmless",
  },
  {
    name: "replace a .git that is a symlink",
    admission: "protected-names",
    arrange({ root, second }: World) {
      rmSync(join(root, ".git"), { recursive: true });
      symlinkSync(join(second, ".git"), join(root, ".git"));
    },
    carryOut: byScript(() => "rm .git && mkdir .git"),
    escaped: seen(({ root }) => !isLink(join(root, ".git"))),
    alone: true,
    control: "harmless",
  },
];

const readPointer = (tree: string) =>
  existsSync(join(tree, ".git")) ? readFileSync(join(tree, ".git"), "utf8") : undefined;
const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
