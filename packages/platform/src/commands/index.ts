// Every command of the program, one line for each noun.
import { auditCommands } from "./audit/index.ts";
import { automationsCommands } from "./automations/index.ts";
import { backupCommands } from "./backup/index.ts";
import type { Command } from "./command.ts";
import { credentialsCommands } from "./credentials/index.ts";
import { egressCommands } from "./egress/index.ts";
import { envCommands } from "./env/index.ts";
import { imageCommands } from "./image/index.ts";
import { invitationsCommands } from "./invitations/index.ts";
import { keysCommands } from "./keys/index.ts";
import { machinesCommands } from "./machines/index.ts";
import { modelsCommands } from "./models/index.ts";
import { reposCommands } from "./repos/index.ts";
import { secretsCommands } from "./secrets/index.ts";
import { serverCommands } from "./server/index.ts";
import { teamsCommands } from "./teams/index.ts";
import { usersCommands } from "./users/index.ts";

export const commands: Command[] = [
  ...serverCommands,
  ...modelsCommands,
  ...machinesCommands,
  ...keysCommands,
  ...reposCommands,
  ...envCommands,
  ...automationsCommands,
  ...imageCommands,
  ...credentialsCommands,
  ...secretsCommands,
  ...egressCommands,
  ...usersCommands,
  ...invitationsCommands,
  ...teamsCommands,
  ...backupCommands,
  ...auditCommands,
];
