// What a hostile model does to repositories below the workspace, and what the user's own git commands then run.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { OpenedWorkspace } from "../../../src/lifecycle/lazy.ts";
import type { BackEnd } from "../../../src/sandbox/back-end.ts";
import { openSandbox } from "../../../src/sandbox/launch.ts";
import { sandboxPolicy } from "../../../src/sandbox/policy.ts";
import { bash } from "../../support/commands.ts";

export interface Scenario {
  name: string;
  /** The user's repository before the run. */
  prepare(user: User): void;
  /** One command each. */
  commands: string[];
  nestedRepositories?: "allowed";
  /** Where the run works, below the top of the repository. */
  directory?: string;
  /** Where the user also looks at the state, below the top. */
  entered?: string;
  /** Of the user's environment. */
  variables?(root: string): Record<string, string>;
}

export interface ScenarioResult {
  name: string;
  /** What the user's git commands ran of what the model planted. */
  ran: string;
  /** Where they failed. */
  failures: string[];
  warnings: string[];
  output: string;
  gitlinks: string;
  /** Files of the repositories that must not change. */
  settings: string;
}

interface User {
  base: string;
  root: string;
  git(directory: string, ...args: string[]): string;
}

/** Makes git run a program in a repository, in three ways. */
const plant = `plant() {
  git -C "$1" config core.fsmonitor "$PWD/evil.sh"; git -C "$1" config filter.x.clean "$PWD/evil.sh"
  echo '* filter=x' > "$1/.gitattributes"; echo x > "$1/file"
  mkdir -p "$1/.git/hooks"; cp evil.sh "$1/.git/hooks/post-index-change"
}
create() { git init -q "$1" && git -C "$1" commit -q --allow-empty -m planted; plant "$1"; }
`;

const addSubmodule = (path: string) => (user: User) => {
  const source = createRepository(user, join(user.base, "source"));
  user.git(user.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, path);
  user.git(user.root, "commit", "-q", "-m", "submodule");
};

export const bareSettings = "a bare repository of before where settings are changed for working trees";

export const scenarios: Scenario[] = [
  {
    name: "a new repository that is added",
    prepare() {},
    commands: [`${plant} create vendor`, "git add vendor", "git add -A && git commit -qm everything"],
  },
  {
    name: "a new repository that is entered under its new name",
    prepare() {},
    commands: [`${plant} create vendor; git -C vendor config core.worktree "$PWD/vendor"`],
    entered: "vendor/.git.untrusted",
  },
  {
    name: "a new repository in a directory that cannot be read",
    prepare() {},
    commands: [`${plant} create locked/inner/vendor; chmod 311 locked/inner; chmod 111 locked`],
    entered: "locked/inner/vendor",
  },
  {
    name: "a bare repository that was another directory",
    prepare({ root }) {
      for (const name of ["objects", "refs", ...Array.from({ length: 450 }, (_, index) => `d${index}`)])
        mkdirSync(join(root, "docs", name), { recursive: true });
    },
    commands: [
      `mkdir bare; mv docs/objects docs/refs bare; git init -q --bare bare; git -C bare config core.bare false
       git -C bare config core.worktree "$PWD"; git -C bare config core.fsmonitor "$PWD/evil.sh"`,
    ],
    entered: "bare",
  },
  {
    name: "a bare repository of before of which settings are changed",
    prepare({ root, git }) {
      git(root, "init", "-q", "--bare", "stored");
      for (const [name, value] of [
        ["core.bare", "false"],
        ["core.worktree", root],
      ] as const)
        git(join(root, "stored"), "config", name, value);
      rmSync(join(root, "stored/hooks"), { recursive: true });
    },
    commands: [
      `git -C stored config core.fsmonitor "$PWD/evil.sh"; printf '[core]\\nfsmonitor = %s\\n' "$PWD/evil.sh" >> stored/config
       mkdir stored/hooks && cp evil.sh stored/hooks/post-index-change; mv stored moved && cp -r moved stored
       cd stored && mv config old && cp old config && printf '[core]\\nfsmonitor = %s\\n' "$PWD/../evil.sh" >> config`,
    ],
    entered: "stored",
  },
  ...["that exist", "that do not exist"].map(
    (which): Scenario => ({
      name: `${bareSettings} ${which}`,
      prepare({ root, git }) {
        git(root, "init", "-q", "--bare", "stored");
        for (const [name, value] of [
          ["core.bare", "false"],
          ["core.worktree", root],
          ["core.repositoryformatversion", "1"],
          ["extensions.worktreeConfig", "true"],
        ] as const)
          git(join(root, "stored"), "config", name, value);
        if (which === "that exist") writeFileSync(join(root, "stored/config.worktree"), "[core]\n\tbare = false\n");
      },
      commands: [
        `cd stored; printf '[core]\nfsmonitor = %s\n' "$PWD/../evil.sh" > new; cat new >> config.worktree; mv -f new config.worktree`,
      ],
      entered: "stored",
    }),
  ),
  {
    name: "a repository of parts that were there before, beyond the search at the start",
    prepare({ root }) {
      for (const name of ["git", "objects", "refs", ...Array.from({ length: 450 }, (_, index) => `d${index}`)])
        mkdirSync(join(root, "docs", name), { recursive: true });
      for (const name of ["head", "config"]) writeFileSync(join(root, "docs", name), "");
    },
    commands: [
      `mkdir vendor; mv docs/git vendor/.git; mv docs/objects docs/refs vendor/.git; mkdir vendor/.git/refs/heads
       echo 'ref: refs/heads/main' > docs/head; mv docs/head vendor/.git/HEAD
       printf '[core]\nfsmonitor = %s\n' "$PWD/evil.sh" > docs/config; mv docs/config vendor/.git/config`,
    ],
    entered: "vendor",
  },
  {
    name: "a repository behind a .git that is a link, of which settings are changed",
    prepare(user) {
      const linked = createRepository(user, join(user.root, "linked"));
      mkdirSync(join(user.root, "kept"));
      renameSync(join(linked, ".git"), join(user.root, "kept/linked"));
      symlinkSync("../kept/linked", join(linked, ".git"));
    },
    commands: [
      `printf '[core]\\nfsmonitor = %s\\n' "$PWD/evil.sh" >> kept/linked/config
       cp evil.sh kept/linked/hooks/post-index-change; mv kept/linked kept/old && cp -r kept/old kept/linked
       printf '[core]\\nfsmonitor = %s\\n' "$PWD/evil.sh" >> kept/linked/config`,
    ],
    entered: "linked",
  },
  {
    name: "a new repository of a workspace that had none",
    prepare: ({ root }) => mkdirSync(join(root, "part")),
    commands: [
      `git init -q . && git config core.fsmonitor "$(dirname "$PWD")/evil.sh"; mkdir -p "$PWD/other"; git init -q other; git -C other config core.fsmonitor ../../evil.sh`,
    ],
    directory: "part",
    entered: "part",
  },
  {
    name: "a new repository that is added, where that is allowed",
    prepare() {},
    commands: ["git init -q vendor && git -C vendor commit -q --allow-empty -m x", "git add vendor"],
    nestedRepositories: "allowed",
  },
  {
    name: "a new repository without anything that runs",
    prepare() {},
    commands: ["git init -q vendor && git -C vendor commit -q --allow-empty -m x"],
  },
  {
    name: "a submodule whose .git is replaced",
    prepare: addSubmodule("lib"),
    commands: [`${plant} rm -rf lib/.git; mv lib away; mkdir lib; create lib; echo x > lib/.git`],
  },
  {
    name: "a new repository with a rebase in progress",
    prepare() {},
    commands: [
      `git init -q vendor && cd vendor && for n in 1 2; do git commit -q --allow-empty -m $n; done && mkdir .git/rebase-merge && cd .git/rebase-merge &&
       git rev-parse HEAD | tee orig-head > onto; echo refs/heads/master > head-name; : > interactive; echo 'exec ../evil.sh' > git-rebase-todo`,
    ],
  },
  {
    name: "a submodule whose settings are changed",
    prepare: addSubmodule("lib"),
    commands: [`git -C lib config core.fsmonitor "$PWD/evil.sh"; echo x >> .git/modules/lib/config`],
  },
  {
    name: "a submodule whose parent directory is replaced",
    prepare: addSubmodule("deps/deep/lib"),
    commands: [
      `${plant} mv deps away; mv deps/deep away; mv deps/deep/lib away; mkdir -p deps/deep/lib; create deps/deep/lib`,
    ],
  },
  {
    name: "a submodule that is not checked out",
    prepare(user) {
      addSubmodule("lib")(user);
      user.git(user.root, "submodule", "--quiet", "deinit", "-f", "lib");
    },
    commands: [`${plant} create lib`],
  },
  {
    name: "a submodule that is not checked out, whose hooks are kept",
    prepare(user) {
      addSubmodule("lib")(user);
      user.git(user.root, "submodule", "--quiet", "deinit", "-f", "lib");
    },
    commands: ["cp evil.sh .git/modules/lib/hooks/post-checkout"],
  },
  {
    name: "a submodule whose directory is missing",
    prepare(user) {
      addSubmodule("lib")(user);
      rmSync(join(user.root, "lib"), { recursive: true });
    },
    commands: [`${plant} rmdir lib; mkdir lib; create lib`],
  },
  {
    name: "a repository that exists and is not added",
    prepare: (user) => void createRepository(user, join(user.root, "a/nested")),
    commands: [
      `${plant} plant a/nested; mv a b; mv a/nested c; rm -rf a/nested/.git; create a/nested; git add a/nested`,
    ],
  },
];

/** Files of the working tree that the user's settings make git read or run. Landlock cannot protect them: changes are reported. */
export const configuredScenarios: Scenario[] = [
  {
    name: "settings that the repository includes",
    prepare({ root, git }) {
      writeFileSync(join(root, ".gitconfig"), "[alias]\n\tst = status\n");
      mkdirSync(join(root, "team"));
      writeFileSync(join(root, "team/settings"), "");
      git(root, "config", "include.path", "../.gitconfig");
      git(root, "config", "includeIf.gitdir:/.path", "../team/settings");
    },
    commands: [
      `${plant} for f in .gitconfig team/settings; do mv $f gone; printf '[core]\nfsmonitor = %s\n' "$PWD/evil.sh" > $f; done`,
      `mv team away; mkdir team; printf '[core]\nfsmonitor = %s\n' "$PWD/evil.sh" > team/settings`,
    ],
  },
  {
    name: "settings that the repository includes and that do not exist",
    prepare: ({ root, git }) => void git(root, "config", "include.path", "../.gitconfig"),
    commands: [`printf '[core]\nfsmonitor = %s\n' "$PWD/evil.sh" > .gitconfig; ln -s evil.sh .gitconfig`],
  },
  {
    name: "hooks of the repository outside of .git",
    prepare({ root, git }) {
      mkdirSync(join(root, ".husky/_"), { recursive: true });
      writeFileSync(join(root, ".husky/_/.gitignore"), "*\n");
      git(root, "config", "core.hooksPath", ".husky/_");
    },
    commands: [
      "cp evil.sh .husky/_/post-index-change",
      "mv .husky/_ away; mv .husky away; mkdir -p .husky/_; cp evil.sh .husky/_/post-index-change",
    ],
  },
  {
    name: "a script that the repository has as filter",
    prepare({ root, git }) {
      mkdirSync(join(root, "tools"));
      writeFileSync(join(root, "tools/clean.sh"), "#!/bin/sh\ncat\n", { mode: 0o755 });
      writeFileSync(join(root, ".gitattributes"), "*.txt filter=x\n");
      git(root, "config", "filter.x.clean", "sh './tools/clean.sh' %f");
    },
    commands: ["cp evil.sh tools/clean.sh; mv tools away; mkdir tools; cp evil.sh tools/clean.sh", "echo x > new.txt"],
  },
  {
    name: "a script in the top directory that the repository has as filter",
    prepare({ root, git }) {
      writeFileSync(join(root, "clean.sh"), "cat\n");
      writeFileSync(join(root, ".gitattributes"), "*.txt filter=x\n");
      git(root, "config", "filter.x.clean", "sh clean.sh %f");
    },
    commands: ["cp evil.sh clean.sh; rm -f clean.sh; cp evil.sh clean.sh", "echo x > new.txt"],
  },
];

const asFilter =
  (command: string, script?: string) =>
  ({ root, git }: User) => {
    mkdirSync(join(root, "tools"));
    if (script !== undefined) writeFileSync(join(root, script), "#!/bin/sh\ncat\n", { mode: 0o755 });
    writeFileSync(join(root, ".gitattributes"), "*.txt filter=x\n");
    git(root, "config", "filter.x.clean", command);
  };
const replaceFilter = (path: string) => [`mkdir -p ${path}; rmdir ${path}; cp evil.sh ${path}`, "echo x > new.txt"];
const writeSettings = (path: string) =>
  `mkdir -p $(dirname ${path}); printf '[core]\nfsmonitor = %s\n' "$PWD/evil.sh" > ${path}`;

/** The same, in less direct forms. */
configuredScenarios.push(
  {
    name: "a filter that does not exist",
    prepare: asFilter("./tools/clean %f"),
    commands: replaceFilter("tools/clean"),
  },
  {
    name: "a filter whose directory does not exist",
    prepare: asFilter("cat | scripts/bin/clean"),
    commands: replaceFilter("scripts/bin/clean"),
  },
  {
    name: "a filter below the top directory, as git prints it",
    prepare: asFilter('"$(git rev-parse --show-toplevel)/tools/clean"', "tools/clean"),
    commands: replaceFilter("tools/clean"),
  },
  {
    name: "a filter among other commands",
    prepare: asFilter("cat|tools/clean;:", "tools/clean"),
    commands: replaceFilter("tools/clean"),
  },
  {
    name: "a filter in a directory that its command changes to",
    prepare: asFilter("cd tools && ./clean", "tools/clean"),
    commands: replaceFilter("tools/clean"),
  },
  {
    name: "hooks that other hooks run",
    prepare({ root, git }) {
      mkdirSync(join(root, ".husky/_"), { recursive: true });
      const script = '#!/bin/sh\nexec "$(dirname "$(dirname "$0")")/post-index-change"\n';
      writeFileSync(join(root, ".husky/_/post-index-change"), script, { mode: 0o755 });
      git(root, "config", "core.hooksPath", ".husky/_");
    },
    commands: ["cp evil.sh .husky/post-index-change; chmod -x .husky/_/*"],
  },
  {
    name: "the user's settings, where a variable puts them into the repository",
    prepare: ({ root }) => writeFileSync(join(root, ".gitconfig"), ""),
    variables: (root) => ({ GIT_CONFIG_GLOBAL: join(root, ".gitconfig") }),
    commands: [writeSettings(".gitconfig")],
  },
  {
    name: "the user's settings in a directory of settings in the repository",
    prepare() {},
    variables: (root) => ({ XDG_CONFIG_HOME: join(root, ".config") }),
    commands: [writeSettings(".config/git/config")],
  },
  {
    name: "settings that those of the user include",
    prepare({ base, root }) {
      mkdirSync(join(base, "settings/git"), { recursive: true });
      writeFileSync(join(base, "settings/git/config"), `[include]\n\tpath = ${join(root, "team/settings")}\n`);
    },
    variables: (root) => ({ XDG_CONFIG_HOME: join(root, "../settings") }),
    commands: [writeSettings("team/settings")],
  },
);

const hook = "post-index-change";
/** Hooks in this directory of the working tree, which people keep under version control. */
const keepHooks = ({ root }: User, directory: string) => {
  mkdirSync(join(root, directory), { recursive: true });
  writeFileSync(join(root, directory, hook), "#!/bin/sh\n", { mode: 0o755 });
};
const replaceHook = (directory: string) =>
  `cp evil.sh ${directory}/${hook}; rm -rf ${directory}/${hook}; cp evil.sh ${directory}/${hook}`;

configuredScenarios.push(
  {
    name: "hooks and settings that are below the directory of the run, in a repository above it",
    directory: "app",
    prepare(user) {
      keepHooks(user, "app/hooks");
      user.git(user.root, "config", "core.hooksPath", "app/hooks");
      user.git(user.root, "config", "include.path", "../app/settings");
    },
    commands: [
      `cp ../evil.sh hooks/${hook}; printf '[core]\nfsmonitor = %s\n' "$(dirname $PWD)/evil.sh" > settings; rm hooks/${hook}; cp ../evil.sh hooks/${hook}`,
    ],
  },
  {
    name: "a hook that is a link into the working tree",
    prepare(user) {
      keepHooks(user, "tools");
      symlinkSync(`../../tools/${hook}`, join(user.root, ".git/hooks", hook));
    },
    commands: [replaceHook("tools")],
  },
  {
    name: "a directory of hooks that is a link into the working tree",
    prepare(user) {
      keepHooks(user, "tools");
      rmSync(join(user.root, ".git/hooks"), { recursive: true });
      symlinkSync("../tools", join(user.root, ".git/hooks"));
    },
    commands: [replaceHook("tools")],
  },
  {
    name: "hooks of the workspace by another name of it",
    prepare(user) {
      keepHooks(user, "tools/hooks");
      symlinkSync("root", join(user.base, "alias"));
      user.git(user.root, "config", "core.hooksPath", join(user.base, "alias/tools/hooks"));
    },
    commands: [replaceHook("tools/hooks")],
  },
  {
    name: "hooks that a variable names",
    prepare: (user) => keepHooks(user, "tools/hooks"),
    variables: () => ({ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.hooksPath", GIT_CONFIG_VALUE_0: "tools/hooks" }),
    commands: [replaceHook("tools/hooks")],
  },
  {
    name: "hooks that a variable with parameters names",
    prepare: (user) => keepHooks(user, "tools/hooks"),
    variables: () => ({ GIT_CONFIG_PARAMETERS: "'core.hookspath'='tools/hooks'" }),
    commands: [replaceHook("tools/hooks")],
  },
  {
    name: "hooks behind a comment that ends with a backslash",
    prepare(user) {
      keepHooks(user, "tools/hooks");
      appendFileSync(join(user.root, ".git/config"), "# note \\\n[core]\n# more \\\n\thooksPath = tools/hooks\n");
    },
    commands: [replaceHook("tools/hooks")],
  },
  {
    name: "a program that shows differences by a variable",
    prepare({ root }) {
      mkdirSync(join(root, "tools"));
      writeFileSync(join(root, "tools/show"), "#!/bin/sh\n", { mode: 0o755 });
    },
    variables: () => ({ GIT_EXTERNAL_DIFF: "tools/show" }),
    commands: ["cp evil.sh tools/show; rm -f tools/show; cp evil.sh tools/show; echo x >> first.txt"],
  },
);

/** A link can be replaced: only what it leads to is protected, and the change is reported. */
export const linkScenarios: Scenario[] = [
  {
    name: "a directory of hooks that is a link",
    prepare(user) {
      keepHooks(user, "tools/hooks");
      symlinkSync("tools/hooks", join(user.root, ".githooks"));
      user.git(user.root, "config", "core.hooksPath", ".githooks");
    },
    commands: ["rm .githooks; mkdir .githooks; cp evil.sh .githooks/pre-commit"],
  },
  {
    name: "a link above the directory of hooks",
    prepare(user) {
      keepHooks(user, "tools/hooks");
      symlinkSync("tools", join(user.root, "t"));
      user.git(user.root, "config", "core.hooksPath", "t/hooks");
    },
    commands: ["rm t; mkdir -p t/hooks; cp evil.sh t/hooks/pre-commit"],
  },
];

export async function play(scenario: Scenario, serverProgram: string, backEnd: BackEnd): Promise<ScenarioResult> {
  const base = realpathSync(mkdtempSync("/var/tmp/nested-"));
  try {
    const variables = { ...environmentIn(base), ...scenario.variables?.(join(base, "root")) };
    const user = openUser(base, variables);
    scenario.prepare(user);
    const marker = join(base, "ran");
    const evil = `#!/bin/sh\necho "$0 $*" >> ${marker}\ncat\n`;
    writeFileSync(join(user.root, "evil.sh"), evil, { mode: 0o755 });
    const workspace = await openSandbox(
      sandboxPolicy({
        mode: "workspace-write",
        root: join(user.root, scenario.directory ?? ""),
        ...(scenario.nestedRepositories && { nestedRepositories: scenario.nestedRepositories }),
      }),
      { serverProgram, env: variables, incarnation: randomUUID(), backEnd },
    );
    const { output, warnings } = await runCommands(workspace, scenario.commands);
    const failures = useGit(user, scenario.entered);
    const gitlinks =
      user
        .git(user.root, "ls-tree", "-r", "HEAD")
        .match(/^160000.*$/gm)
        ?.join("\n") ?? "";
    const ran = existsSync(marker) ? readFileSync(marker, "utf8") : "";
    return { name: scenario.name, ran, failures, warnings, output, gitlinks, settings: readSettings(user.root) };
  } finally {
    execFileSync("chmod", ["-R", "u+rwX", base]);
    rmSync(base, { recursive: true, force: true });
  }
}

async function runCommands(workspace: OpenedWorkspace, commands: string[]) {
  try {
    let output = "";
    for (const command of commands) output += (await bash(workspace, command)).all;
    await workspace.release([]);
    return { output, warnings: (await workspace.findRepositoryChanges?.()) ?? [] };
  } finally {
    await workspace.close();
  }
}

/** As people do after a run; adding comes before looking again, because from then on git enters what was added. */
function useGit({ root, git }: User, entered?: string): string[] {
  const commands = [
    ...[["status"], ["diff"], ["log", "-p"], ["submodule", "status"], ["add", "."], ["status"], ["diff"], ["add", "."]],
    ...[
      ["submodule", "status"],
      // In the repository of the scenario that has one in progress.
      ["-C", "vendor", "rebase", "--continue"],
      ["diff", "--cached"],
      ["log", "-p", "--submodule=diff"],
      ...(entered === undefined ? [] : [["-C", entered, "status"]]),
    ],
  ];
  return commands.flatMap((args) => {
    try {
      git(root, ...args);
      return [];
    } catch (error) {
      return [`git ${args.join(" ")}: ${(error as Error).message}`];
    }
  });
}

function openUser(base: string, env: Record<string, string>): User {
  const user: User = {
    base,
    root: join(base, "root"),
    git: (directory, ...args) =>
      execFileSync("git", args, {
        cwd: directory,
        env,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      }),
  };
  createRepository(user, user.root);
  return user;
}

function createRepository({ git }: User, directory: string): string {
  mkdirSync(directory, { recursive: true });
  git(directory, "init", "-q", "-b", "main");
  writeFileSync(join(directory, "first.txt"), "first\n");
  git(directory, "add", ".");
  git(directory, "commit", "-q", "-m", "first");
  return directory;
}

const environmentIn = (base: string) => ({
  PATH: process.env.PATH ?? "",
  HOME: join(base, "home"),
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
});

const settingFiles = [
  "lib/.git",
  "deps/deep/lib/.git",
  ".git/modules/lib/config",
  "a/nested/.git/config",
  "stored/config",
  "kept/linked/config",
];

const readSettings = (root: string): string =>
  settingFiles
    .map((name) => join(root, name))
    .filter((path) => existsSync(path))
    .map((path) => {
      try {
        return readFileSync(path, "utf8");
      } catch (error) {
        return (error as Error).message;
      }
    })
    .join("\n");
