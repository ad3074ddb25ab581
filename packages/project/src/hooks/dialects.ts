// The hook dialects by name, as the engine takes them.
import type { HookDialects } from "@agentcli/engine/hooks";
import { agentcliDialect } from "./agentcli/dialect.ts";
import { platformDialect } from "./platform/dialect.ts";

export const hookDialects: HookDialects = { agentcli: agentcliDialect, platform: platformDialect };
