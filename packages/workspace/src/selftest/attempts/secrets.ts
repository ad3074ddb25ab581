// Attempts to read what a tool has no business reading.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Attempt, type AttemptContext, printsSecret, printsSucceeded, runScript, whileOpen } from "../attempt.ts";
import { numberOf, perl } from "../snippets.ts";

const readFiles = (...files: ((context: AttemptContext) => string)[]): Attempt["run"] =>
  async function read(context) {
    const requests = files.flatMap((file) => (["lines", "bytes"] as const).map((as) => ({ path: file(context), as })));
    const { files: answers } = await context.workspace.read({ files: requests });
    const texts = answers.map((answer) =>
      answer.kind === "bytes" ? Buffer.from(answer.base64, "base64").toString() : JSON.stringify(answer),
    );
    return texts.join("\n");
  };

const personalPaths = [
  ...[".platform/config.toml", ".codex/auth.json", ".claude/.credentials.json", ".gemini/oauth_creds.json"],
  ...[".Xauthority", ".config/Signal/config.json", ".config/Code/User/globalStorage/state.vscdb", ".mc/config.json"],
  ...[".config/Cursor/User/globalStorage/state.vscdb", ".local/share/DBeaverData/credentials", ".zen/p/logins.json"],
  ...[".bash_history", ".zsh_history", ".mozilla/firefox/p/logins.json", ".config/chromium/Default/Cookies"],
];

export const onSecrets: Attempt[] = [
  {
    name: "read a hidden directory",
    run: runScript(({ home }) => `cat ${home}/.ssh/id; cd ${home}/.ssh && cat id; cat ${home}/.ssh/*`),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "read a hidden file",
    run: runScript(({ home }) => `cat ${home}/.netrc; cp ${home}/.netrc copy; cat copy`),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "read something hidden through the roots and directories of processes",
    run: runScript(
      ({ home, hostPid }) =>
        `for p in 1 self $PPID ${hostPid}; do cat /proc/$p/root${home}/.ssh/id; cat /proc/$p/cwd/../..${home}/.ssh/id; done`,
    ),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "read something hidden through a link made inside",
    run: runScript(
      ({ home }) =>
        `ln -s ${home}/.ssh/id soft; cat soft; ln ${home}/.netrc hard; cat hard; mv ${home}/.netrc taken; cat taken`,
    ),
    escaped: printsSecret,
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "see names in a hidden directory",
    knownGap: "file-names",
    run: runScript(({ home }) => `ls ${home}/.ssh; test -f ${home}/.ssh/id && echo SUCCEEDED`),
    escaped: printsSucceeded,
    control: "harmless",
  },
  {
    name: "read something hidden with the tools for files and images",
    run: readFiles(
      ({ fixture }) => join(fixture.home, ".ssh/id"),
      ({ fixture }) => join(fixture.home, ".netrc"),
      ({ fixture }) => join(fixture.agentHome, "auth.json"),
    ),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "find something hidden with the tools for lists and searches",
    run: async ({ workspace, fixture }) => {
      const directories = [fixture.home, join(fixture.home, ".ssh"), fixture.agentHome];
      const results = await Promise.all(directories.map((path) => workspace.search({ pattern: fixture.secret, path })));
      return JSON.stringify(results);
    },
    escaped: whileOpen((_, output) => output.includes('"line":1')),
    control: "harmless",
  },
  {
    name: "read a credential that is saved after the start",
    run: async ({ shell, fixture: { home, secret } }) => {
      writeFileSync(join(home, ".vault-token"), secret);
      mkdirSync(join(home, ".config/gh"), { recursive: true });
      writeFileSync(join(home, ".config/gh/hosts.yml"), secret);
      return shell(`cat ${home}/.vault-token ${home}/.config/gh/hosts.yml`);
    },
    escaped: printsSecret,
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "read a credential that is replaced after the start",
    run: async ({ shell, fixture: { home, secret } }) => {
      writeFileSync(join(home, ".netrc.new"), secret);
      renameSync(join(home, ".netrc.new"), join(home, ".netrc"));
      return shell(`cat ${home}/.netrc`);
    },
    escaped: printsSecret,
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "read the credentials of other agents, histories and browser profiles",
    prepare: ({ home, secret }) => {
      for (const path of personalPaths) {
        mkdirSync(dirname(join(home, path)), { recursive: true });
        writeFileSync(join(home, path), secret);
      }
    },
    run: runScript(({ home }) => `cat ${personalPaths.map((path) => `${home}/${path}`).join(" ")}`),
    escaped: printsSecret,
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "read the agent's credentials",
    run: runScript(({ agentHome }) => `cat ${agentHome}/auth.json; ls ${agentHome}`),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "read what is hidden inside the workspace",
    hiddenPaths: ({ root }) => [join(root, "hidden-inside")],
    run: runScript(() => "cat hidden-inside/file; mv hidden-inside shown; cat shown/file"),
    escaped: printsSecret,
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "read the agent's key from its own environment",
    run: runScript(() => "env; export -p; cat /proc/self/environ | tr '\\0' '\\n'"),
    escaped: printsSecret,
    control: "never",
  },
  {
    name: "read the agent's key from the environment of another process",
    run: runScript(
      ({ hostPid }) =>
        `cat /proc/${hostPid}/environ /proc/1/environ /proc/$PPID/environ /proc/[0-9]*/environ | tr '\\0' '\\n'`,
    ),
    escaped: printsSecret,
    control: "never",
  },
  {
    name: "read the memory of the process that started the sandbox",
    run: runScript(
      ({ hostPid }) =>
        `head -c 1 /proc/${hostPid}/maps && echo SUCCEEDED; head -c 1 /proc/${hostPid}/auxv && echo SUCCEEDED`,
    ),
    escaped: printsSucceeded,
    control: "harmless",
  },
  {
    name: "copy the memory of the process that started the sandbox",
    run: runScript(({ hostPid }) =>
      // Two vectors of one byte each; a bad address would be EFAULT, a refusal EPERM, an unseen process ESRCH.
      perl(
        `my $b = "x" x 16; my $v = pack("PQ", $b, 1); my $r = pack("QQ", 1, 1); syscall(${numberOf({ x64: 310, arm64: 270 })}, ${hostPid}, $v, 1, $r, 1, 0); print "SUCCEEDED\\n" if $! == 14`,
      ),
    ),
    escaped: printsSucceeded,
    control: "harmless",
  },
  {
    name: "find the agent's key in a core dump",
    run: runScript(
      ({ secret }) =>
        `ulimit -c unlimited; sh -c 'kill -SEGV $$'; sleep 0.2; grep -la ${secret.slice(0, 6)} core* /tmp/core* | sed 's/^/${secret} in /'`,
    ),
    escaped: printsSecret,
    control: "never",
  },
  {
    name: "read password hashes",
    run: runScript(
      () =>
        "test -s /etc/shadow && head -c 1 /etc/shadow && echo SUCCEEDED; head -c 1 /etc/gshadow && test -s /etc/gshadow && echo SUCCEEDED",
    ),
    escaped: printsSucceeded,
    control: "harmless-as-root",
  },
];
