// What the commands about automations share: the database, and the automation that is named.
import { CommandError } from "@agentcli/command-line";
import { type AutomationOperator, openAutomationOperator } from "../../automations/operator.ts";
import type { AutomationRow } from "../../automations/store.ts";
import type { ViewContext } from "../../automations/views.ts";
import type { Settings } from "../../foundation/config/index.ts";
import { ApiError } from "../../foundation/http/index.ts";
import { listServers } from "../../server-file.ts";
import type { Invocation } from "../command.ts";
import { withVault } from "../principals.ts";
import type { Program } from "../program.ts";

export interface AutomationCommand {
  automations: AutomationOperator;
  view: ViewContext;
  settings: Settings;
}

export async function withAutomations<T>(
  invocation: Invocation,
  program: Program,
  use: (command: AutomationCommand) => Promise<T>,
): Promise<T> {
  try {
    return await withVault(invocation, program, ({ db, vault, settings }) => {
      const publicUrl = () => settings.publicUrl ?? listServers(settings.dataDirectory)[0]?.url ?? "";
      const view = { platform: { db, vault }, publicUrl };
      return use({ automations: openAutomationOperator({ db, vault, publicUrl }), view, settings });
    });
  } catch (error) {
    if (error instanceof ApiError) throw new CommandError("usage", error.message);
    throw error;
  }
}

/** For the automation that the first positional names. */
export const withAutomation = <T>(
  invocation: Invocation,
  program: Program,
  use: (command: AutomationCommand, automation: AutomationRow) => Promise<T>,
): Promise<T> =>
  withAutomations(invocation, program, async (command) => {
    const [name] = invocation.positionals;
    if (name === undefined) throw new CommandError("usage", "The name of an automation is missing.");
    return use(command, await command.automations.find(name));
  });

/** Throws CommandError where no server would start what is requested. */
export function requireScheduler({ dataDirectory }: Settings): void {
  if (listServers(dataDirectory).some(({ roles }) => roles.includes("scheduler"))) return;
  throw new CommandError(
    "failed",
    "Automations are started by a server with the role scheduler, and none is running on this data directory. Start one with: platform serve",
  );
}

export function printRows<Row>(
  { invocation, program }: { invocation: Invocation; program: Program },
  rows: Row[],
  lineOf: (row: Row) => string,
): number {
  if (invocation.has("json")) program.print(`${JSON.stringify(rows)}\n`);
  else for (const row of rows) program.print(`${lineOf(row)}\n`);
  return 0;
}
