// Whether this machine can hold agents. Their commands reach the network through the proxy alone, which not every sandbox
// can make them do; one that cannot is as good as none.
import { join } from "node:path";
import { canProxy, noProxy, probeSandbox, type SandboxProbe } from "@agentcli/workspace";
import type { Settings } from "../../config/index.ts";

export async function probeForAgents({ variables, programDirectory, dataDirectory }: Settings): Promise<SandboxProbe> {
  const found = await probeSandbox({
    path: variables.PATH ?? "",
    untrusted: [join(dataDirectory, "workspaces")],
    serverProgram: join(programDirectory, "workspace-server.cjs"),
  });
  if (found.kind === "unavailable" || canProxy(found.backEnd)) return found;
  const [reason, remedy] = noProxy(found.backEnd);
  const [better = { reason, remedy }] = found.shortfalls;
  return { kind: "unavailable", reason: better.reason, remedy: better.remedy };
}
