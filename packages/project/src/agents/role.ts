// A custom agent: name, instructions and restrictions. A role can only narrow what its parent may do.
import { type AgentRole as EngineRole, builtInRoles as engineRoles } from "@agentcli/engine";

/** A role of the engine, with its source. */
export interface AgentRole extends EngineRole {
  readonly: boolean;
  /** Its file, or `built-in`. */
  source: string;
}

/** A definition; absent members come from an outer definition of the same name, or are defaults. */
export type RoleDefinition = Pick<AgentRole, "name" | "description" | "instructions" | "source"> &
  Partial<Omit<AgentRole, "name" | "description" | "instructions" | "source">>;

export const builtInRoles: AgentRole[] = engineRoles.map((role) => ({
  ...role,
  readonly: role.sandbox === "read-only",
  source: "built-in",
}));

export function completeRole(definition: RoleDefinition, outer: AgentRole | undefined): AgentRole {
  const { provider, ...inherited } = outer ?? { model: "inherit", readonly: false };
  // The provider belongs to the model.
  const isSameModel = definition.model === undefined && provider !== undefined;
  return { ...inherited, ...(isSameModel && { provider }), ...definition };
}
