// Attempts to read what a tool has no business reading.
import { join } from "node:path";
import { type Attempt, byScript, type Inside, printsSecret, saysSo, seen } from "../attempt.ts";
import { numberOf, perl } from "../snippets.ts";

const readOver = (...files: ((inside: Inside) => string)[]): Attempt["carryOut"] =>
  async function read(inside) {
    const asked = files.flatMap((file) => (["lines", "bytes"] as const).map((as) => ({ path: file(inside), as })));
    const { files: answers } = await inside.workspace.read({ files: asked });
    const texts = answers.map((answer) =>
      answer.kind === "bytes" ? Buffer.from(answer.base64, "base64").toString() : JSON.stringify(answer),
    );
    return texts.join("\n");
  };

export const onSecrets: Attempt[] = [
  {
    name: "read a hidden directory",
    carryOut: byScript(({ home }) => `cat ${home}/.ssh/id; cd ${home}/.ssh && cat id; cat ${home}/.ssh/*`),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "read a hidden file",
    carryOut: byScript(({ home }) => `cat ${home}/.netrc; cp ${home}/.netrc copy; cat copy`),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "read something hidden through the roots and directories of processes",
    carryOut: byScript(
      ({ home, hostPid }) =>
        `for p in 1 self $PPID ${hostPid}; do cat /proc/$p/root${home}/.ssh/id; cat /proc/$p/cwd/../..${home}/.ssh/id; done`,
    ),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "read something hidden through a link made inside",
    carryOut: byScript(
      ({ home }) =>
        `ln -s ${home}/.ssh/id soft; cat soft; ln ${home}/.netrc hard; cat hard; mv ${home}/.netrc taken; cat taken`,
    ),
    escaped: printsSecret,
    alone: true,
    control: "harmless",
  },
  {
    name: "see names in a hidden directory",
    admission: "file-names",
    carryOut: byScript(({ home }) => `ls ${home}/.ssh; test -f ${home}/.ssh/id && echo SUCCEEDED`),
    escaped: saysSo,
    control: "harmless",
  },
  {
    name: "read something hidden with the tools for files and images",
    carryOut: readOver(
      ({ world }) => join(world.home, ".ssh/id"),
      ({ world }) => join(world.home, ".netrc"),
      ({ world }) => join(world.agentHome, "auth.json"),
    ),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "find something hidden with the tools for lists and searches",
    carryOut: async ({ workspace, world }) => {
      const places = [world.home, join(world.home, ".ssh"), world.agentHome];
      const found = await Promise.all(places.map((path) => workspace.search({ pattern: world.secret, path })));
      return JSON.stringify(found);
    },
    escaped: seen((_, told) => told.includes('"line":1')),
    control: "harmless",
  },
  {
    name: "read the agent's credentials",
    carryOut: byScript(({ agentHome }) => `cat ${agentHome}/auth.json; ls ${agentHome}`),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "read what is hidden inside the workspace",
    hides: ({ root }) => [join(root, "hidden-inside")],
    carryOut: byScript(() => "cat hidden-inside/file; mv hidden-inside shown; cat shown/file"),
    escaped: printsSecret,
    alone: true,
    control: "harmless",
  },
  {
    name: "read the agent's key from its own environment",
    carryOut: byScript(() => "env; export -p; cat /proc/self/environ | tr '\\0' '\\n'"),
    escaped: printsSecret,
    control: "never",
  },
  {
    name: "read the agent's key from the environment of another process",
    carryOut: byScript(
      ({ hostPid }) =>
        `cat /proc/${hostPid}/environ /proc/1/environ /proc/$PPID/environ /proc/[0-9]*/environ | tr '\\0' '\\n'`,
    ),
    escaped: printsSecret,
    control: "never",
  },
  {
    name: "read the memory of the process that started the sandbox",
    carryOut: byScript(
      ({ hostPid }) =>
        `head -c 1 /proc/${hostPid}/maps && echo SUCCEEDED; head -c 1 /proc/${hostPid}/auxv && echo SUCCEEDED`,
    ),
    escaped: saysSo,
    control: "harmless",
  },
  {
    name: "copy the memory of the process that started the sandbox",
    carryOut: byScript(({ hostPid }) =>
      // Two vectors of one byte each; a bad address would be EFAULT, a refusal EPERM, an unseen process ESRCH.
      perl(
        `my $b = "x" x 16; my $v = pack("PQ", $b, 1); my $r = pack("QQ", 1, 1); syscall(${numberOf({ x64: 310, arm64: 270 })}, ${hostPid}, $v, 1, $r, 1, 0); print "SUCCEEDED\\n" if $! == 14`,
      ),
    ),
    escaped: saysSo,
    control: "harmless",
  },
  {
    name: "find the agent's key in a core dump",
    carryOut: byScript(
      ({ secret }) =>
        `ulimit -c unlimited; sh -c 'kill -SEGV $$'; sleep 0.2; grep -la ${secret.slice(0, 6)} core* /tmp/core* | sed 's/^/${secret} in /'`,
    ),
    escaped: printsSecret,
    control: "never",
  },
  {
    name: "read password hashes",
    carryOut: byScript(
      () =>
        "test -s /etc/shadow && head -c 1 /etc/shadow && echo SUCCEEDED; head -c 1 /etc/gshadow && test -s /etc/gshadow && echo SUCCEEDED",
    ),
    escaped: saysSo,
    control: "harmless-as-root",
  },
];
