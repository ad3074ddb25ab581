// A workspace with one hook script in JavaScript, Python, perl or ruby, and what pinning finds in it.
import { join, relative } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { onTestFinished } from "vitest";
import { openWorkspace, type Pin, pinCommand } from "../src/hooks/pin/index.ts";

const files = {
  "tools/x.sh": "#!/bin/sh\n",
  "tools/y.js": "",
  "lib/x.mjs": "",
  "lib/x.py": "",
  "lib/x.rb": "",
};

const interpreters: Record<string, string> = { py: "python3", pl: "perl", rb: "ruby", sh: "sh" };

/** The path of the workspace; the script is in `hooks`. */
export async function prepareScript(name: string, text: string): Promise<string> {
  const { path, remove } = await temporaryDirectory({ ...files, [join("hooks", name)]: text });
  onTestFinished(remove);
  return path;
}

export function pinScript(path: string, name: string): Pin {
  const program = interpreters[name.split(".").at(-1) ?? ""] ?? "node";
  return pinIn(path, `${program} hooks/${name}`);
}

export function pinIn(path: string, command: string): Pin {
  return pinCommand(command, openWorkspace([path], [path], new Map([["AGENT_PROJECT_DIR", path]])));
}

/** The pinned files, or the reason why there are none. */
export async function pinnedWith(name: string, text: string): Promise<string | string[]> {
  const path = await prepareScript(name, text);
  const { files: found, unpinned } = pinScript(path, name);
  return unpinned ?? found.map((file) => relative(path, file.path));
}

export const inNode = (text: string): string =>
  `import { execFile, execSync, fork, spawn, spawnSync } from "node:child_process";\n${text}`;
export const inPython = (text: string): string => `import os, sys, subprocess\n${text}`;
