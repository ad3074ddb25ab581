// Attempts on other processes: those of the machine, the server beside it, and the one that reads the answers.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Chunk } from "@agentcli/protocol";
import { type Attempt, type AttemptContext, afterClose, printsSucceeded, runScript, whileOpen } from "../attempt.ts";
import type { EscapeFixture } from "../fixture.ts";
import { numberOf, perl, systemCall } from "../snippets.ts";

/** The descriptor a careless host left open. Node itself closes the low ones. */
export const openDescriptor = 60;

export const onProcesses: Attempt[] = [
  {
    name: "signal a process of the machine",
    knownGap: "signals",
    run: runScript(({ hostPid }) => `kill -0 ${hostPid} && echo SUCCEEDED`),
    escaped: printsSucceeded,
    control: "harmless",
  },
  {
    name: "see processes of the machine",
    knownGap: "other-processes",
    run: runScript(({ hostPid }) => `grep -qa . /proc/${hostPid}/cmdline && echo SUCCEEDED`),
    escaped: printsSucceeded,
    control: "harmless",
  },
  {
    name: "limit a process of the machine",
    // The limit it has already.
    run: runScript(
      ({ hostPid }) =>
        `l=$(prlimit --pid ${hostPid} --core --output SOFT --noheadings --raw | tr -d ' ') && prlimit --pid ${hostPid} --core=$l: && echo SUCCEEDED`,
    ),
    escaped: printsSucceeded,
    control: "harmless",
  },
  {
    name: "write through a descriptor the host left open",
    // Of these processes only: without a sandbox a look at all would write into files of strangers.
    run: runScript(
      ({ hostPid }) =>
        `echo x >&${openDescriptor}; for p in self $PPID ${hostPid}; do echo x > /proc/$p/fd/${openDescriptor}; done`,
    ),
    escaped: whileOpen(({ descriptorFile }) => statSync(descriptorFile).size > 0),
    control: "harmless",
  },
  {
    name: "inherit a descriptor beyond the three standard ones",
    run: runScript(() =>
      perl(
        'opendir(my $d, "/proc/self/fd"); for (readdir $d) { print "SUCCEEDED $_ ", readlink("/proc/self/fd/$_"), "\\n" if /^\\d+$/ && $_ > 2 && readlink("/proc/self/fd/$_") !~ m{^/proc/\\d+/fd$} }',
      ),
    ),
    escaped: printsSucceeded,
    control: "never",
  },
  {
    name: "find a file of the machine among the descriptors of the processes around it",
    // What points into the workspace, to a temporary file, a stream or a device is not a file of the machine.
    run: runScript(
      ({ root }) =>
        `for f in /proc/1/fd/* /proc/$PPID/fd/*; do t=$(readlink $f) || continue; case "$t" in socket:*|pipe:*|anon_inode:*|/dev/*|/proc/*|/tmp/.agent-*|"$TMPDIR"/*|"${root}"*) ;; /*) echo "SUCCEEDED $f $t";; esac; done`,
    ),
    escaped: printsSucceeded,
    control: "never",
  },
  {
    name: "trace a process",
    // PTRACE_SEIZE on a child of its own, which is allowed outside.
    run: runScript(() =>
      perl(
        `my $c = fork; if (!$c) { sleep 5; exit } my $r = syscall(${numberOf({ x64: 101, arm64: 117 })}, 0x4206, $c, 0, 0); print "SUCCEEDED\\n" if $r == 0; kill 9, $c`,
      ),
    ),
    escaped: printsSucceeded,
    control: "harmless",
  },
  {
    name: "read the memory of the server beside it by a system call",
    run: runScript(() => systemCall({ x64: 310, arm64: 270 }, "getppid()", 0, 0, 0, 0, 0)),
    escaped: printsSucceeded,
    control: "harmless",
  },
  {
    name: "take descriptors out of another process",
    run: runScript(() => systemCall({ x64: 438, arm64: 438 }, -1, 0, 0)),
    escaped: printsSucceeded,
    control: "harmless",
  },
  {
    name: "write into the memory of the server beside it",
    run: runScript(() => perl('open(my $m, "+<", "/proc/" . getppid() . "/mem") and print "SUCCEEDED\\n"')),
    escaped: printsSucceeded,
    control: "harmless",
  },
  {
    name: "start a debugger in the server beside it",
    run: runScript(
      () =>
        `kill -USR1 $PPID; for i in 1 2 3 4 5 6 7 8; do sleep 0.1; echo > /dev/tcp/127.0.0.1/9229 && echo SUCCEEDED; done`,
    ),
    escaped: printsSucceeded,
    ownSandbox: true,
    control: "never",
  },
  {
    name: "forge an answer of the server beside it",
    run: (context) => forgeAnswers(context, "/proc/$PPID/fd/[012] /proc/1/fd/[012]"),
    escaped: whileOpen((_, output) => output !== "real"),
    ownSandbox: true,
    control: "never",
  },
  {
    name: "disturb the server beside it through the streams it keeps for itself",
    knownGap: "server",
    run: (context) => forgeAnswers(context, "/proc/$PPID/fd/*"),
    escaped: whileOpen((_, output) => output !== "real"),
    ownSandbox: true,
    control: "never",
  },
  {
    name: "type into the terminal of the user",
    run: runScript(() => systemCall({ x64: 16, arm64: 29 }, 0, 0x5412, '(my $c = "x")')),
    escaped: printsSucceeded,
    control: "harmless",
  },
  {
    name: "open the terminal of the user",
    run: runScript(
      () =>
        "for t in /dev/tty /dev/pts/[0-9]* /dev/tty[0-9]* /dev/console; do test -c $t && : > $t && echo SUCCEEDED $t; done",
    ),
    escaped: printsSucceeded,
    control: "never",
  },
  {
    name: "use shared memory of other processes",
    run: runScript(({ word }) => perl(`print shmget(${keyOf(word)}, 4096, 01600)`)),
    escaped: whileOpen(({ word }) => sharedMemoryKeys().includes(String(keyOf(word)))),
    // What it makes would stay.
    control: "never",
  },
  {
    name: "leave a process behind",
    run: runScript(({ word }) => {
      const sleeper = `sh -c 'sleep 300; : ${word}' > /dev/null 2>&1`;
      return `(${sleeper} &); setsid ${sleeper} & nohup ${sleeper} & sleep 0.1`;
    }),
    escaped: afterClose(isLeftBehind),
    ownSandbox: true,
    control: "never",
  },
  {
    name: "leave a process behind that hides on purpose",
    knownGap: "left-behind",
    run: runScript(({ word }) => hiddenProcess(word)),
    escaped: afterClose(isLeftBehind),
    ownSandbox: true,
    control: "never",
  },
  {
    name: "go on after the turn with a process that hides on purpose",
    knownGap: "left-behind",
    run: async ({ shell, workspace, fixture: { word } }) => {
      await shell(hiddenProcess(word));
      await workspace.release([]);
      return "";
    },
    escaped: whileOpen(isLeftBehind),
    ownSandbox: true,
    control: "never",
  },
  {
    name: "outlive the sandbox with a fork bomb",
    // A bounded one, so that the machine survives where it is not held.
    run: ({ shell, fixture }) =>
      shell(perl(`$0 = "${fixture.word}"; for (1 .. 9) { fork } sleep 90`), { timeoutMs: 2000 }),
    escaped: afterClose(isLeftBehind),
    ownSandbox: true,
    control: "never",
  },
  {
    name: "fill the memory of the host with output",
    run: flood,
    escaped: whileOpen((_, output) => Number(output) > 16 * 1024 * 1024),
    ownSandbox: true,
    control: "never",
  },
];

const keyOf = (word: string): number => Number.parseInt(word.slice(-7), 16);

/** Of System V, in the namespace of this process. */
const sharedMemoryKeys = (): string[] =>
  readFileSync("/proc/sysvipc/shm", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/)[0] ?? "");

/** Without group, terminal and environment of the command that starts it. */
const hiddenProcess = (word: string) =>
  `(setsid env -i sh -c 'trap "" TERM HUP; sleep 90; : ${word}' > /dev/null 2>&1 < /dev/null &); sleep 0.1`;

/** Writes answers to calls that were not asked yet, and looks whether the next one is believed. */
async function forgeAnswers({ shell, fixture }: AttemptContext, streams: string): Promise<string> {
  const result = { state: "exited", seq: 1, exitCode: 0, durationMs: 1, timedOut: false, droppedBytes: 0 };
  const frames = Array.from({ length: 30 }, (_, index) => [
    { frame: "chunk", call: index + 1, chunk: { seq: 1, stream: "stdout", text: "forged" } },
    { frame: "result", call: index + 1, result },
  ]);
  writeFileSync(
    join(fixture.root, "frames"),
    `\n${frames
      .flat()
      .map((frame) => JSON.stringify(frame))
      .join("\n")}\n`,
  );
  await shell(`for f in ${streams}; do timeout 1 dd if=frames of=$f conv=notrunc; done > /dev/null 2>&1`);
  return (await shell("echo real")).trim();
}

/** How much of 32 MB is kept for replay. */
async function flood({ workspace }: AttemptContext): Promise<string> {
  const id = "flood";
  const signal = new AbortController().signal;
  const argv = ["bash", "-c", "head -c 33554432 /dev/zero | tr '\\0' x"];
  await workspace.exec({ id, start: { argv } }, () => {}, signal);
  let kept = 0;
  const count = (chunk: Chunk) => {
    kept += chunk.text.length;
  };
  await workspace.exec({ id, afterSeq: 0 }, count, signal);
  return String(kept);
}

/** They would live longer than they are waited for. */
async function isLeftBehind({ word }: EscapeFixture, _: string, waitMs: number): Promise<boolean> {
  const end = Date.now() + waitMs;
  while (processesWith(word).length > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 100));
  const left = processesWith(word);
  for (const pid of left) process.kill(Number(pid), "SIGKILL");
  return left.length > 0;
}

function processesWith(word: string): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => readCommandLine(pid).includes(word));
}

function readCommandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
