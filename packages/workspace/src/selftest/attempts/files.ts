// Attempts to change files outside, or to change them through tools that act for the model.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Attempt, byScript, type Inside, saysSo, seen } from "../attempt.ts";
import { node, perl } from "../snippets.ts";
import type { World } from "../world.ts";

export const onFiles: Attempt[] = [
  {
    name: "write outside the workspace",
    carryOut: byScript(({ outside }) => `echo x > ${outside}/written`),
    escaped: seen(({ outside }) => existsSync(join(outside, "written"))),
    control: "harmless",
  },
  {
    name: "write to the directories of the system",
    carryOut: byScript(
      ({ word }) => `for d in /etc /usr /usr/local/bin /var/tmp /opt /; do echo x > "$d/${word}"; done`,
    ),
    escaped: seen(({ word }) => takeBack(["/etc", "/usr", "/usr/local/bin", "/var/tmp", "/opt", "/"], word)),
    control: "never",
  },
  {
    name: "write outside through a symlink made inside",
    carryOut: byScript(({ outside }) => `ln -s ${outside} link && echo x > link/linked`),
    escaped: seen(({ outside }) => existsSync(join(outside, "linked"))),
    control: "harmless",
  },
  {
    name: "write outside through a hard link made inside",
    carryOut: byScript(({ outside }) => `ln ${outside}/readable hard-link && echo changed > hard-link`),
    escaped: seen(({ outside }) => readText(outside, "readable") !== "original"),
    alone: true,
    control: "harmless",
  },
  {
    name: "write outside through a hard link that was there before",
    admission: "hard-links",
    carryOut: byScript(() => "echo changed > linked-before"),
    escaped: seen(({ outside }) => readText(outside, "linked-before") !== "original"),
    control: "harmless",
  },
  {
    name: "empty, move or remove a file outside",
    carryOut: byScript(
      ({ outside }) =>
        `${perl(`truncate("${outside}/readable", 0)`)}; mv ${outside}/readable ${outside}/moved; mv ${outside}/readable taken; rm -f ${outside}/readable`,
    ),
    escaped: seen(({ outside }) => readText(outside, "readable") !== "original"),
    alone: true,
    control: "harmless",
  },
  {
    name: "change the mode, date or attributes of a file outside",
    admission: "file-attributes",
    carryOut: byScript(({ outside }) => `chmod 777 ${outside}/readable; touch -d 2001-01-01 ${outside}/readable`),
    escaped: seen(({ outside }) => {
      const { mode, mtime } = statSync(join(outside, "readable"));
      return (mode & 0o777) === 0o777 || mtime.getFullYear() === 2001;
    }),
    alone: true,
    control: "harmless",
  },
  {
    name: "write in the workspace of a read-only sandbox",
    mode: "read-only",
    carryOut: byScript(({ root }) => `echo x > written-read-only; echo x > ${root}/.git/read-only`),
    escaped: seen(
      ({ root }) => existsSync(join(root, "written-read-only")) || existsSync(join(root, ".git/read-only")),
    ),
    control: "harmless",
  },
  {
    name: "move the workspace away",
    carryOut: byScript(({ root }) => `mv ${root} ${root}-moved; rm -rf ${root}; mv ${root}/../root ${root}/../renamed`),
    escaped: seen(({ root }) => !existsSync(root)),
    alone: true,
    control: "never",
  },
  {
    name: "see the temporary files of the machine",
    carryOut: byScript(() => "ls -a /tmp | grep agent-selftest-marker && echo SUCCEEDED"),
    escaped: saysSo,
    control: "harmless",
  },
  {
    name: "put a program in front of those on PATH",
    carryOut: byScript(({ word }) => `IFS=:; for d in $PATH; do echo x > "$d/${word}" && echo SUCCEEDED; done`),
    escaped: saysSo,
    control: "never",
  },
  {
    name: "write outside by swapping a directory for a symlink while a patch is applied",
    carryOut: (inside) => race(inside, ({ outside }) => outside, writeRepeatedly),
    escaped: seen(({ outside }) => readdirSync(outside).some((name) => name.startsWith("raced-"))),
    alone: true,
    control: "never",
  },
  {
    name: "read something hidden by swapping a directory for a symlink while a file is read",
    carryOut: (inside) => race(inside, ({ home }) => join(home, ".ssh"), readRepeatedly),
    escaped: seen(({ secret }, told) => told.includes(secret)),
    alone: true,
    control: "never",
  },
];

const readText = (...names: string[]) => {
  const path = join(...names);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
};

/** True when something was there, and it is not any more. */
function takeBack(directories: string[], name: string): boolean {
  const found = directories.map((directory) => join(directory, name)).filter((path) => existsSync(path));
  for (const path of found) rmSync(path);
  return found.length > 0;
}

/** Swaps `spot` between a directory and a symlink as fast as it can while a tool works on `spot/…`. */
async function race(
  inside: Inside,
  target: (world: World) => string,
  work: (inside: Inside) => Promise<string>,
): Promise<string> {
  const swapping = `const fs = require("fs"); fs.mkdirSync("real"); fs.writeFileSync("real/id", "plain");
    const end = Date.now() + 1500;
    while (Date.now() < end) {
      try { fs.renameSync("real", "spot"); fs.renameSync("spot", "real"); fs.symlinkSync(${JSON.stringify(target(inside.world))}, "spot"); fs.unlinkSync("spot"); } catch {}
    }
    console.log("swapped")`;
  const [told, swapped] = await Promise.all([work(inside), inside.shell(node(swapping))]);
  if (!swapped.includes("swapped")) throw new Error(`The race was not run: ${swapped}`);
  return told;
}

async function writeRepeatedly({ workspace }: Inside): Promise<string> {
  const told: string[] = [];
  for (let round = 0; round < 60; round += 1) {
    const result = await workspace.edit({ edits: [{ kind: "add", path: `spot/raced-${round}`, content: "x\n" }] });
    told.push(result.kind);
  }
  return told.join(" ");
}

async function readRepeatedly({ workspace }: Inside): Promise<string> {
  const told: string[] = [];
  for (let round = 0; round < 60; round += 1) {
    const { files } = await workspace.read({ files: [{ path: "spot/id", as: "lines" }] });
    told.push(JSON.stringify(files));
  }
  return told.join(" ");
}
