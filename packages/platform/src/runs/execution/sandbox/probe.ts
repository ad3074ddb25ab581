// Whether this machine can confine agents. Their commands must reach the network only through the proxy; a sandbox
// that cannot enforce this counts as unavailable.
import { join } from "node:path";
import { probeSandbox, proxyUnavailable, type SandboxProbe, supportsProxy } from "@agentcli/workspace";
import type { Settings } from "../../../foundation/index.ts";

export async function probeForAgents({ variables, programDirectory, dataDirectory }: Settings): Promise<SandboxProbe> {
  const found = await probeSandbox({
    path: variables.PATH ?? "",
    untrusted: [join(dataDirectory, "workspaces")],
    serverProgram: join(programDirectory, "workspace-server.cjs"),
  });
  if (found.kind === "unavailable" || supportsProxy(found.backEnd)) return found;
  const [reason, remedy] = proxyUnavailable(found.backEnd);
  const [better = { reason, remedy }] = found.shortfalls;
  return { kind: "unavailable", reason: better.reason, remedy: better.remedy };
}
