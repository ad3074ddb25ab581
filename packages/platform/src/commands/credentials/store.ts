// What the commands about credentials share: the team, its store, and the credential that the command line names.
import { CommandError } from "@agentcli/command-line";
import { CredentialKind, type CredentialName } from "@agentcli/protocol/api";
import { ApiError } from "../../foundation/http/index.ts";
import { openAdministration } from "../../identity/principals/index.ts";
import type { CredentialStore } from "../../repositories/credentials/index.ts";
import type { Invocation } from "../command.ts";
import { findTeam } from "../find-team.ts";
import { withVault } from "../principals.ts";
import type { Program } from "../program.ts";

export interface TeamCredentials {
  store: CredentialStore;
  teamId: number;
  team: string;
}

export const withCredentials = <T>(
  invocation: Invocation,
  program: Program,
  use: (credentials: TeamCredentials) => Promise<T>,
): Promise<T> =>
  withVault(invocation, program, async ({ db, vault }) => {
    const team = invocation.text("team") ?? "default";
    const { id: teamId } = await findTeam(openAdministration(db, vault), team);
    try {
      return await use({ store: { db, vault }, teamId, team });
    } catch (error) {
      if (error instanceof ApiError) throw new CommandError("usage", `Invalid credential: ${error.message}`);
      throw error;
    }
  });

export function readName({ positionals, text }: Invocation, usage: string): CredentialName {
  const [host = ""] = positionals;
  if (host === "") throw new CommandError("usage", `Missing host: ${usage}`);
  const kind = CredentialKind.safeParse(text("kind")?.replace("-", "_"));
  if (kind.success) return { host, kind: kind.data };
  throw new CommandError("usage", `Missing or unknown --kind. Choose token, basic, ssh-key or known-hosts: ${usage}`);
}

export const shownKind = (kind: CredentialKind): string => kind.replace("_", "-");
