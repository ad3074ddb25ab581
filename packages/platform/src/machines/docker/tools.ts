// What a machine gets from the host: the tools of its supervisor, and bubblewrap with the libraries it needs, because the
// image may have others or none.
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { MachineParts } from "@agentcli/workspace";
import { findTools, run, type Tools } from "../parts/index.ts";

export interface DockerTools extends Tools {
  /** The command line of bubblewrap in the container. */
  bubblewrap: string[];
  /** What runs it for the host. */
  processInside: string[];
}

/** Where the container finds things of the host; sandboxes in it have a /run of their own. */
export const view = {
  root: "/run/agent/root",
  tools: "/run/agent/tools",
  directories: "/run/agent/directories",
  kept: "/run/agent/kept",
};

const inside = (name: string) => join(view.tools, name);

export interface DockerToolSources {
  nodePath: string;
  serverProgram: string;
  bubblewrap: string;
}

export async function findDockerTools(parts: MachineParts, sources: DockerToolSources): Promise<DockerTools> {
  const tools = findTools(parts, sources);
  const libraries = await librariesOf(sources.bubblewrap);
  const program = join(dirname(sources.serverProgram), processProgram);
  const loader = libraries.find((path) => basename(path).startsWith("ld-")) ?? "";
  return {
    ...tools,
    mounts: [
      ...tools.mounts,
      { source: program, name: `server/${processProgram}`, kind: "file" },
      { source: realpathSync(sources.bubblewrap), name: "bubblewrap/bwrap", kind: "file" },
      ...libraries.map((path) => ({
        ...{ source: realpathSync(path), name: `bubblewrap/${basename(path)}`, kind: "file" as const },
      })),
    ],
    bubblewrap: [
      inside(`bubblewrap/${basename(loader)}`),
      "--library-path",
      inside("bubblewrap"),
      inside("bubblewrap/bwrap"),
    ],
    processInside: [inside("node"), inside(`server/${processProgram}`)],
  };
}

const processProgram = "process-inside.cjs";

/** With the program that loads them. */
async function librariesOf(program: string): Promise<string[]> {
  const lines = (await run(["ldd", program])).split("\n");
  return lines.flatMap((line) => /(?:=>\s+|^\s+)(\/\S+)\s+\(/.exec(line)?.[1] ?? []);
}
