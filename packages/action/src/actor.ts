// Who started the workflow, and whether they may: collaborators who can write, and accounts that the workflow names.
import { readFileSync } from "node:fs";
import { StepError } from "./errors.ts";
import { inputOf } from "./inputs.ts";
import { log } from "./runner-files.ts";

type Variables = Record<string, string | undefined>;

interface Account {
  login: string;
  /** Undefined where the runner does not tell it. */
  id: string | undefined;
}

/** A workflow that is run again has two actors, and both must be allowed. */
export async function checkActor(variables: Variables): Promise<number> {
  const { GITHUB_ACTOR = "", GITHUB_ACTOR_ID, GITHUB_TRIGGERING_ACTOR = "" } = variables;
  if (GITHUB_ACTOR === "") throw new StepError("GITHUB_ACTOR is not set: this step runs in a workflow only.");
  await checkAccount({ login: GITHUB_ACTOR, id: GITHUB_ACTOR_ID }, variables);
  if (GITHUB_TRIGGERING_ACTOR !== "" && GITHUB_TRIGGERING_ACTOR.toLowerCase() !== GITHUB_ACTOR.toLowerCase())
    await checkAccount({ login: GITHUB_TRIGGERING_ACTOR, id: undefined }, variables);
  return 0;
}

async function checkAccount(account: Account, variables: Variables): Promise<void> {
  const { login } = account;
  const reason =
    (await listedUser(account, variables)) ??
    (await listedBot(account, variables)) ??
    (await collaborator(account, variables));
  if (reason === undefined)
    throw new StepError(
      `${login} may not start this workflow: not a collaborator who can write, and not in allow-users or allow-bots. Add the account there, or let a collaborator run it.`,
    );
  log(`${login} may start this workflow: ${reason}.`);
}

/** Names, or ids, which outlive a change of name. */
const entries = (variables: Variables, input: string): string[] =>
  inputOf(variables, input)
    .split(/[\s,]+/)
    .filter((entry) => entry !== "");

const isListed = ({ login, id }: Account, list: string[]): boolean =>
  list.some((entry) => (/^\d+$/.test(entry) ? entry === id : entry.toLowerCase() === login.toLowerCase()));

async function listedUser(account: Account, variables: Variables): Promise<string | undefined> {
  const list = entries(variables, "allow-users");
  const isOpen = list.includes("*");
  if (!isOpen && !isListed(account, list)) return undefined;
  if ((await kindOf(account, variables)) !== "User") return undefined;
  return isOpen ? "allow-users admits every user" : "named in allow-users";
}

const ownBot = "github-actions[bot]";

/** `true` admits the bot of GitHub Actions alone. Others are named one by one: any user can install an app. */
async function listedBot(account: Account, variables: Variables): Promise<string | undefined> {
  const list = entries(variables, "allow-bots").flatMap((entry) =>
    entry === "true" ? [ownBot] : entry === "false" ? [] : [entry],
  );
  if (list.includes("*"))
    throw new StepError("allow-bots does not take *: any user can install an app. Name each bot.");
  if (!isListed(account, list)) return undefined;
  return (await kindOf(account, variables)) === "Bot" ? "named in allow-bots" : undefined;
}

async function collaborator(account: Account, variables: Variables): Promise<string | undefined> {
  const { GITHUB_REPOSITORY = "" } = variables;
  const path = `/repos/${GITHUB_REPOSITORY}/collaborators/${encodeURIComponent(account.login)}/permission`;
  const found = await ask(path, variables);
  const permission = String(found?.permission ?? "none");
  return ["admin", "maintain", "write"].includes(permission) ? `permission ${permission}` : undefined;
}

/** What GitHub says the account is; its name proves nothing. The id must be the one the runner was given. */
async function kindOf({ login, id }: Account, variables: Variables): Promise<string | undefined> {
  const found = (await ask(`/users/${encodeURIComponent(login)}`, variables)) ?? senderOf(login, variables);
  if (!found || (id && String(found.id) !== id)) return undefined;
  return String(found.type);
}

/** Some apps act under a name that does not belong to an account; the event then describes the sender. */
function senderOf(login: string, { GITHUB_EVENT_PATH }: Variables): Record<string, unknown> | undefined {
  try {
    const { sender } = JSON.parse(readFileSync(GITHUB_EVENT_PATH ?? "", "utf8"));
    return sender?.login === login ? sender : undefined;
  } catch {
    return undefined; // Events without a sender, such as a schedule.
  }
}

/** Undefined for "not found"; any other failure stops the workflow. */
async function ask(path: string, variables: Variables): Promise<Record<string, unknown> | undefined> {
  const { GITHUB_API_URL = "https://api.github.com", GITHUB_TOKEN = "" } = variables;
  const headers = {
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    "user-agent": "agentcli-action",
    ...(GITHUB_TOKEN && { authorization: `Bearer ${GITHUB_TOKEN}` }),
  };
  const response = await fetch(`${GITHUB_API_URL}${path}`, { headers, redirect: "error" }).catch((error: Error) => {
    throw new StepError(`GitHub could not be asked about the actor: ${error.message}. Run the workflow again.`);
  });
  if (response.status === 404) return undefined;
  if (!response.ok)
    throw new StepError(
      `GitHub answered ${response.status} when asked about the actor (${path}). Check the permissions of the workflow's token, then run it again.`,
    );
  return (await response.json()) as Record<string, unknown>;
}
