// The programs of the supervisor, which come from the host: Node, the workspace server, and the library for terminals.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { MachineParts } from "@agentcli/workspace";
import { toolPath } from "./bubblewrap.ts";

/** A file or directory of the host, and its name below the tools. */
export interface ToolMount {
  source: string;
  name: string;
  kind: "file" | "directory";
}

export interface Tools {
  mounts: ToolMount[];
  /** The command line of the supervisor, inside. */
  argv: string[];
  terminalModule: string | undefined;
}

export interface ToolSources {
  nodePath: string;
  serverProgram: string;
}

export function findTools(parts: MachineParts, { nodePath, serverProgram }: ToolSources): Tools {
  const chunks = join(dirname(serverProgram), "chunks");
  const terminals = parts.findTerminalLibrary(serverProgram);
  const mounts: Tools["mounts"] = [
    { source: nodePath, name: "node", kind: "file" },
    { source: serverProgram, name: "server/workspace-server.cjs", kind: "file" },
    ...(existsSync(chunks) ? [{ source: chunks, name: "server/chunks", kind: "directory" } as const] : []),
    ...(terminals?.directories ?? []).map((source) => ({
      source,
      name: moduleName(source),
      kind: "directory" as const,
    })),
  ];
  return {
    mounts,
    argv: [toolPath("node"), toolPath("server/workspace-server.cjs")],
    terminalModule: terminals && toolPath(moduleName(terminals.module)),
  };
}

/** Below a `node_modules` of its own, so that one finds the other. */
const moduleName = (path: string) =>
  `node_modules${path.slice(path.lastIndexOf("/node_modules/") + "/node_modules".length)}`;
