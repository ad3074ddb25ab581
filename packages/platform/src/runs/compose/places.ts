// The places of one run: where its tools act, where sub-agents with fewer rights do, and where its MCP servers are.
import type { SandboxMode } from "@agentcli/protocol";
import type { LazyWorkspace } from "@agentcli/workspace";
import type { OpenWorkspace } from "../../workspaces/index.ts";
import { newId } from "../ids.ts";
import type { Place, Sandboxes } from "./place.ts";

export interface Places {
  main: Place;
  narrowed(mode: SandboxMode): Promise<LazyWorkspace>;
  forServers(): Promise<LazyWorkspace>;
  /** Nothing the agent has started is left. */
  close(): Promise<void>;
}

export interface PlacesRequest {
  sandboxes: Sandboxes;
  /** Of the run itself. */
  mode: SandboxMode;
  workspace: OpenWorkspace;
  /** Everything of the agent: its repositories and what it keeps beside them. */
  agentDirectory: string;
  /** Variables that commands are given. */
  variables: Record<string, string>;
}

export async function openPlaces(request: PlacesRequest): Promise<Places> {
  const { sandboxes, workspace, agentDirectory, variables } = request;
  const open = (mode: SandboxMode) =>
    sandboxes.place({
      mode,
      root: workspace.root,
      repositories: workspace.repositories.map(({ path }) => path),
      agentDirectory,
      variables,
      newIncarnation: newId,
    });
  const main = await open(request.mode);
  const others = new Map<string, Promise<Place>>();
  const other = async (name: string, mode: SandboxMode) => {
    const place = others.get(name) ?? open(mode);
    others.set(name, place);
    return (await place).workspace;
  };
  return {
    main,
    narrowed: async (mode) => (mode === request.mode ? main.workspace : other(mode, mode)),
    forServers: () => other("servers", request.mode),
    async close() {
      const opened = [main, ...(await Promise.all(others.values()))];
      await Promise.all(opened.map(({ workspace: each }) => each.close()));
    },
  };
}
