import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryDirectory, waitForExit } from "@agentcli/testkit";
import { type FakeAccount, type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, expect, test } from "vitest";

const program = fileURLToPath(new URL("../dist/main.cjs", import.meta.url));
const repository = "acme/shop";
let github: FakeGithub;
let token: string;
let workspace: { path: string; remove(): Promise<void> };

const account = (login: string, type: FakeAccount["type"], permission?: "admin" | "write" | "read" | "none") =>
  github.accounts.push({ login, type, permissions: permission ? { [repository]: permission } : {} });

beforeAll(async () => {
  github = await startGithub();
  await github.addRepository(repository, { collaborators: ["ada"] });
  token = github.addToken("ada");
  workspace = await temporaryDirectory();
  account("ada", "User", "admin");
  account("ben", "User", "write");
  account("cleo", "User", "read");
  account("dora", "User", "none");
  account("eve", "User");
  account("evil[bot]", "Bot", "none");
  account("github-actions[bot]", "Bot", "none");
  account("dependabot[bot]", "Bot");
  account("deployer[bot]", "Bot", "write");
  // A user whose name looks like the one of a bot, and the other way round.
  account("renovate", "User");
  account("dressed[bot]", "User");
  account("acme", "Organization");
});
afterAll(async () => {
  await github.close();
  await workspace.remove();
});

interface Case {
  actor: string;
  id?: string;
  again?: string;
  users?: string;
  bots?: string;
  sender?: object;
}

async function check({ actor, id = "", again = "", users = "", bots = "false", sender }: Case) {
  const event = join(workspace.path, "event.json");
  writeFileSync(event, JSON.stringify(sender ? { sender } : {}));
  const env = {
    ...{ GITHUB_API_URL: github.apiUrl, GITHUB_TOKEN: token, GITHUB_REPOSITORY: repository, GITHUB_EVENT_PATH: event },
    ...{ GITHUB_ACTOR: actor, GITHUB_ACTOR_ID: id, GITHUB_TRIGGERING_ACTOR: again, GITHUB_WORKSPACE: workspace.path },
    ...{ INPUT_PROMPT: "hello", INPUT_ALLOW_USERS: users, INPUT_ALLOW_BOTS: bots, INPUT_SAFETY_STRATEGY: "unsafe" },
  };
  return waitForExit(spawn(process.execPath, [program, "check"], { env, stdio: ["ignore", "pipe", "pipe"] }));
}

const idOf = async (login: string): Promise<string> => {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${github.apiUrl}/users/${encodeURIComponent(login)}`, { headers });
  const { id } = (await answer.json()) as { id: number };
  return String(id);
};

const copilot = { login: "Copilot", id: 198982749, type: "Bot" };

const cases: [string, Case, boolean][] = [
  ["an administrator", { actor: "ada" }, true],
  ["a collaborator who can write", { actor: "ben" }, true],
  ["a collaborator written in other letters", { actor: "BEN" }, true],
  ["a collaborator who can read", { actor: "cleo" }, false],
  ["an account without permission", { actor: "dora" }, false],
  ["a stranger who may read what is public", { actor: "eve" }, false],
  ["an account that does not exist", { actor: "ghost" }, false],
  ["an organization", { actor: "acme", users: "acme" }, false],
  ["a user in allow-users", { actor: "eve", users: "zoe, Eve" }, true],
  ["a user in allow-users, one a line", { actor: "eve", users: "zoe\neve\n" }, true],
  ["a user who is not in allow-users", { actor: "eve", users: "eve2,steve" }, false],
  ["any user with *", { actor: "eve", users: "*" }, true],
  ["a bot with * for users", { actor: "evil[bot]", users: "*" }, false],
  ["a bot in allow-users", { actor: "evil[bot]", users: "evil[bot]" }, false],
  ["a bot by default", { actor: "evil[bot]" }, false],
  ["a bot while allow-bots is true", { actor: "evil[bot]", bots: "true" }, false],
  ["the bot of GitHub Actions by default", { actor: "github-actions[bot]" }, false],
  ["the bot of GitHub Actions while allow-bots is true", { actor: "github-actions[bot]", bots: "true" }, true],
  ["a bot that allow-bots names", { actor: "dependabot[bot]", bots: "dependabot[bot]" }, true],
  ["another bot than allow-bots names", { actor: "evil[bot]", bots: "dependabot[bot]" }, false],
  ["a bot with permission to write", { actor: "deployer[bot]" }, true],
  ["a user whose name ends like a bot's", { actor: "dressed[bot]", bots: "dressed[bot]" }, false],
  ["a user with the name of a bot", { actor: "renovate", bots: "renovate" }, false],
  ["an app that is not an account, by its event", { actor: "Copilot", bots: "Copilot", sender: copilot }, true],
  ["an app that is not an account and not named", { actor: "Copilot", sender: copilot }, false],
  ["a name of an app, and an event of another", { actor: "Copilot", bots: "Copilot", sender: { login: "eve" } }, false],
  ["a name that now belongs to another id", { actor: "eve", users: "eve", id: "1" }, false],
  ["a collaborator's run, started again by a stranger", { actor: "ada", again: "eve" }, false],
  ["a stranger's run, started again by a collaborator", { actor: "eve", again: "ada" }, false],
  ["a run started again by another collaborator", { actor: "ada", again: "ben" }, true],
  ["a name that is a path", { actor: "../ada", users: "" }, false],
];

test.each(cases)("%s: %o", async (_, options, isAllowed) => {
  const { code, stdout } = await check(options);
  expect({ code, stdout }).toEqual(
    isAllowed
      ? { code: 0, stdout: expect.stringContaining("may start this workflow") }
      : { code: 1, stdout: expect.stringMatching(/::error.*may not start this workflow.*allow-users/) },
  );
});

test("an account is named by its id too, which outlives a change of name", async () => {
  const id = await idOf("eve");
  expect((await check({ actor: "eve", id, users: id })).code).toBe(0);
  expect((await check({ actor: "eve", id: "77", users: id })).code).toBe(1);
});

test("all bots cannot be admitted at once, and a GitHub that does not answer admits no one", async () => {
  expect(await check({ actor: "evil[bot]", bots: "*" })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("Name each bot"),
  });
  const response = { status: 403, body: { message: "Resource not accessible by integration" } };
  github.planResponse({ operation: "repos/get-collaborator-permission-level", response });
  const { code, stdout } = await check({ actor: "ada" });
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining("GitHub answered 403") });
});

test("the requests are those of the official description", () => {
  expect(github.violations.filter((violation) => !violation.includes("403"))).toEqual([]);
});
