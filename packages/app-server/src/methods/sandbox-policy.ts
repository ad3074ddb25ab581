// A sandbox policy of the wire as a mode with what is configured for it.
import { isAbsolute } from "node:path";
import { type EffectiveConfig, type Requirements, refusalOf } from "@agentcli/project";
import type { SandboxMode } from "@agentcli/protocol";
import type { SandboxPolicy } from "@agentcli/protocol/app-server";
import { invalidParams, invalidRequest } from "../method.ts";

export interface ChosenSandbox {
  sandbox: SandboxMode;
  network?: "on";
  /** With the details of workspace-write that the policy names. */
  config: EffectiveConfig;
}

/** Refuses what an administrator does not allow. */
export function chooseSandbox(
  policy: SandboxPolicy,
  config: EffectiveConfig,
  requirements: Requirements,
): ChosenSandbox {
  const chosen = readPolicy(policy, config);
  const refused = refusalOf(requirements, "sandbox_mode", chosen.sandbox, "sandboxPolicy");
  if (refused) throw invalidRequest(refused);
  return chosen;
}

function readPolicy(policy: SandboxPolicy, config: EffectiveConfig): ChosenSandbox {
  switch (policy.type) {
    case "dangerFullAccess":
      return { sandbox: "danger-full-access", config };
    // The environment of this server is the sandbox.
    case "externalSandbox":
      return { sandbox: "danger-full-access", config };
    case "readOnly":
      return { sandbox: "read-only", config, ...(policy.networkAccess && { network: "on" }) };
    case "workspaceWrite":
      return { sandbox: "workspace-write", config: { ...config, sandbox_workspace_write: detailsOf(policy, config) } };
  }
}

type WorkspaceWrite = Extract<SandboxPolicy, { type: "workspaceWrite" }>;

/** Roots and network are those of the policy alone; what it has no word for stays as configured. */
function detailsOf({ writableRoots, networkAccess }: WorkspaceWrite, config: EffectiveConfig) {
  const roots = writableRoots ?? [];
  const relative = roots.find((root) => !isAbsolute(root));
  if (relative !== undefined)
    throw invalidParams(`writableRoots: ${JSON.stringify(relative)} is not an absolute path.`);
  const network_access = networkAccess ?? false;
  const { allowed_domains, ...details } = config.sandbox_workspace_write;
  const narrowed = network_access && allowed_domains ? { allowed_domains } : {};
  return { ...details, ...narrowed, writable_roots: roots, network_access };
}
