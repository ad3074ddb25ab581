// What the commands about secrets share: whose they are, and their options.
import { CommandError } from "@agentcli/command-line";
import { SecretHosts, SecretRepositories, type SecretType, SecretUses } from "@agentcli/protocol/api";
import { openEnvironmentOperator } from "../../environments/operator.ts";
import { ApiError } from "../../foundation/http/index.ts";
import { openAdministration } from "../../identity/principals/index.ts";
import { type OwnerRequest, openSecretOperator, type SecretOperator } from "../../secrets/operator.ts";
import type { SecretChange } from "../../secrets/store.ts";
import type { Invocation } from "../command.ts";
import { findTeam } from "../find-team.ts";
import { withVault } from "../principals.ts";
import type { Program } from "../program.ts";

export async function withSecrets<T>(
  invocation: Invocation,
  program: Program,
  use: (secrets: SecretOperator) => Promise<T>,
): Promise<T> {
  const [user, environment] = [invocation.text("user"), invocation.text("environment")];
  if (user !== undefined && environment !== undefined)
    throw new CommandError("usage", "A secret is of a user or of an environment: use --user or --environment.");
  try {
    return await withVault(invocation, program, async ({ db, vault }) => {
      const administration = openAdministration(db, vault);
      const team = invocation.text("team") ?? "default";
      const owner: OwnerRequest = { teamId: (await findTeam(administration, team)).id };
      if (user !== undefined) owner.userId = (await administration.findUser({ email: user, team })).id;
      if (environment !== undefined) {
        const found = await openEnvironmentOperator(db, vault).find(environment);
        Object.assign(owner, { teamId: found.team_id, environmentId: found.id });
      }
      return use(openSecretOperator({ db, vault }, owner));
    });
  } catch (error) {
    if (error instanceof ApiError) throw new CommandError("usage", describe(error));
    throw error;
  }
}

function describe({ message, extra }: ApiError): string {
  const versions = extra.members?.versions as { id: string; repos: string[] }[] | undefined;
  const lines = versions?.map(({ id, repos }) => `\n  --id ${id}  ${repos.join(", ") || "all repositories"}`) ?? [];
  return `${message}${lines.join("")}`;
}

export function requireName({ positionals: [name = ""] }: Invocation, usage: string): string {
  if (name.includes("="))
    throw new CommandError("usage", `The value is not an argument, where other users could read it: ${usage}`);
  if (name !== "") return name;
  throw new CommandError("usage", `Missing name: ${usage}`);
}

export function kindOf(invocation: Invocation): Pick<SecretChange, "type" | "phase" | "repos" | "hosts" | "uses"> {
  const phase = invocation.text("phase") as SecretChange["phase"];
  const isVisible = invocation.has("visible");
  if (phase === "build" && isVisible)
    throw new CommandError("usage", "--visible is for agents, and --phase build is for builds only.");
  const type: SecretType | undefined = isVisible ? "environment_variable" : typeIn(phase);
  const [repos, hosts, uses] = [invocation.text("repos"), invocation.text("hosts"), invocation.text("uses")];
  return {
    ...(type !== undefined && { type }),
    ...(phase !== undefined && { phase }),
    ...(repos !== undefined && { repos: readRepositories(repos) }),
    ...(hosts !== undefined && { hosts: readList("--hosts", SecretHosts.safeParse(parts(hosts))) }),
    ...(uses !== undefined && { uses: readList("--uses", SecretUses.safeParse(parts(uses))) }),
  };
}

/** Without a phase, a secret that exists stays what it is. */
function typeIn(phase: SecretChange["phase"]): SecretType | undefined {
  if (phase === undefined) return undefined;
  return phase === "build" ? "build_secret" : "runtime_secret";
}

/** `none` releases a secret. */
const parts = (text: string): string[] => (text === "none" ? [] : partsIn(text));

const partsIn = (text: string): string[] => text.split(",").flatMap((one) => one.trim() || []);

function readList(flag: string, read: ReturnType<typeof SecretHosts.safeParse>): string[] {
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new CommandError("usage", `${flag}: entry ${Number(issue?.path[0] ?? 0) + 1} ${issue?.message}.`);
}

function readRepositories(text: string): string[] {
  const read = SecretRepositories.safeParse(partsIn(text));
  if (read.success) return read.data;
  throw new CommandError("usage", "--repos: expected host/owner/repo, separated by commas.");
}
