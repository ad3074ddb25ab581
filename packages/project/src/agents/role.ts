// A custom agent: who it is, what it is told, and how far it is held back. A role only ever narrows what its parent may do.
import { type AgentRole as EngineRole, builtInRoles as engineRoles } from "@agentcli/engine";

/** A role of the engine, and where it is from. */
export interface AgentRole extends EngineRole {
  readonly: boolean;
  /** The file it comes from, or `built-in`. */
  source: string;
}

/** What a definition says; what it leaves out comes from one of the same name further out, or is the default. */
export type RoleDefinition = Pick<AgentRole, "name" | "description" | "instructions" | "source"> &
  Partial<Omit<AgentRole, "name" | "description" | "instructions" | "source">>;

export const builtInRoles: AgentRole[] = engineRoles.map((role) => ({
  ...role,
  readonly: role.sandbox === "read-only",
  source: "built-in",
}));

export const completeRole = (definition: RoleDefinition, outer: AgentRole | undefined): AgentRole => ({
  ...(outer ?? { model: "inherit", readonly: false }),
  ...definition,
});
