// Attempts to change files outside, or to change them through tools that act for the model.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Attempt, type AttemptContext, printsSucceeded, runScript, whileOpen } from "../attempt.ts";
import type { EscapeFixture } from "../fixture.ts";
import { node, perl } from "../snippets.ts";

export const onFiles: Attempt[] = [
  {
    name: "write outside the workspace",
    run: runScript(({ outside }) => `echo x > ${outside}/written`),
    escaped: whileOpen(({ outside }) => existsSync(join(outside, "written"))),
    control: "harmless",
  },
  {
    name: "write to the directories of the system",
    run: runScript(({ word }) => `for d in /etc /usr /usr/local/bin /var/tmp /opt /; do echo x > "$d/${word}"; done`),
    escaped: whileOpen(({ word }) => removeCreated(["/etc", "/usr", "/usr/local/bin", "/var/tmp", "/opt", "/"], word)),
    control: "never",
  },
  {
    name: "write outside through a symlink made inside",
    run: runScript(({ outside }) => `ln -s ${outside} link && echo x > link/linked`),
    escaped: whileOpen(({ outside }) => existsSync(join(outside, "linked"))),
    control: "harmless",
  },
  {
    name: "write outside through a hard link made inside",
    run: runScript(({ outside }) => `ln ${outside}/readable hard-link && echo changed > hard-link`),
    escaped: whileOpen(({ outside }) => readText(outside, "readable") !== "original"),
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "write outside through a hard link that was there before",
    knownGap: "hard-links",
    run: runScript(() => "echo changed > linked-before"),
    escaped: whileOpen(({ outside }) => readText(outside, "linked-before") !== "original"),
    control: "harmless",
  },
  {
    name: "empty, move or remove a file outside",
    run: runScript(
      ({ outside }) =>
        `${perl(`truncate("${outside}/readable", 0)`)}; mv ${outside}/readable ${outside}/moved; mv ${outside}/readable taken; rm -f ${outside}/readable`,
    ),
    escaped: whileOpen(({ outside }) => readText(outside, "readable") !== "original"),
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "change the mode, date or attributes of a file outside",
    knownGap: "file-attributes",
    run: runScript(({ outside }) => `chmod 777 ${outside}/readable; touch -d 2001-01-01 ${outside}/readable`),
    escaped: whileOpen(({ outside }) => {
      const { mode, mtime } = statSync(join(outside, "readable"));
      return (mode & 0o777) === 0o777 || mtime.getFullYear() === 2001;
    }),
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "write in the workspace of a read-only sandbox",
    mode: "read-only",
    run: runScript(({ root }) => `echo x > written-read-only; echo x > ${root}/.git/read-only`),
    escaped: whileOpen(
      ({ root }) => existsSync(join(root, "written-read-only")) || existsSync(join(root, ".git/read-only")),
    ),
    control: "harmless",
  },
  {
    name: "move the workspace away",
    run: runScript(({ root }) => `mv ${root} ${root}-moved; rm -rf ${root}; mv ${root}/../root ${root}/../renamed`),
    escaped: whileOpen(({ root }) => !existsSync(root)),
    ownSandbox: true,
    control: "never",
  },
  {
    name: "see the temporary files of the machine",
    run: runScript(() => "ls -a /tmp | grep agent-selftest-marker && echo SUCCEEDED"),
    escaped: printsSucceeded,
    control: "harmless",
  },
  {
    name: "put a program in front of those on PATH",
    run: runScript(({ word }) => `IFS=:; for d in $PATH; do echo x > "$d/${word}" && echo SUCCEEDED; done`),
    escaped: printsSucceeded,
    control: "never",
  },
  {
    name: "write outside by swapping a directory for a symlink while a patch is applied",
    run: (context) => race(context, ({ outside }) => outside, writeRepeatedly),
    escaped: whileOpen(({ outside }) => readdirSync(outside).some((name) => name.startsWith("raced-"))),
    ownSandbox: true,
    control: "never",
  },
  {
    name: "read something hidden by swapping a directory for a symlink while a file is read",
    run: (context) => race(context, ({ home }) => join(home, ".ssh"), readRepeatedly),
    escaped: whileOpen(({ secret }, output) => output.includes(secret)),
    ownSandbox: true,
    control: "never",
  },
];

const readText = (...names: string[]) => {
  const path = join(...names);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
};

/** True when something was there, and it is not any more. */
function removeCreated(directories: string[], name: string): boolean {
  const found = directories.map((directory) => join(directory, name)).filter((path) => existsSync(path));
  for (const path of found) rmSync(path);
  return found.length > 0;
}

/** Swaps `spot` between a directory and a symlink as fast as it can, for as long as a tool works on `spot/…`. */
async function race(
  context: AttemptContext,
  target: (fixture: EscapeFixture) => string,
  work: (context: AttemptContext) => Promise<string>,
): Promise<string> {
  const swapping = `const fs = require("fs"); fs.mkdirSync("real"); fs.writeFileSync("real/id", "plain"); fs.writeFileSync("swapping", "");
    while (!fs.existsSync("worked")) {
      try { fs.renameSync("real", "spot"); fs.renameSync("spot", "real"); fs.symlinkSync(${JSON.stringify(target(context.fixture))}, "spot"); fs.unlinkSync("spot"); } catch {}
    }
    console.log("swapped")`;
  const { root } = context.fixture;
  const swapped = context.shell(node(swapping));
  await Promise.race([appears(join(root, "swapping")), swapped]);
  const output = await work(context).finally(() => writeFileSync(join(root, "worked"), ""));
  if (!(await swapped).includes("swapped")) throw new Error(`The race was not run: ${await swapped}`);
  return output;
}

async function appears(path: string): Promise<void> {
  while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** On a busy machine fewer, because the other side keeps a processor busy meanwhile. */
const isEnough = (round: number, startedMs: number) => round >= 60 || (round >= 20 && Date.now() > startedMs + 1500);

async function writeRepeatedly({ workspace }: AttemptContext): Promise<string> {
  const output: string[] = [];
  const startedMs = Date.now();
  for (let round = 0; !isEnough(round, startedMs); round += 1) {
    const result = await workspace.edit({ edits: [{ kind: "add", path: `spot/raced-${round}`, content: "x\n" }] });
    output.push(result.kind);
  }
  return output.join(" ");
}

async function readRepeatedly({ workspace }: AttemptContext): Promise<string> {
  const output: string[] = [];
  const startedMs = Date.now();
  for (let round = 0; !isEnough(round, startedMs); round += 1) {
    const { files } = await workspace.read({ files: [{ path: "spot/id", as: "lines" }] });
    output.push(JSON.stringify(files));
  }
  return output.join(" ");
}
