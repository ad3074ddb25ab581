import fc from "fast-check";
import { expect, test } from "vitest";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";
import { nowhere, runGit } from "../../src/repositories/git/index.ts";
import { openAccessRules, openSourceHosts } from "../../src/repositories/scm/index.ts";
import { never, openGitHarness } from "./git-harness.ts";
import { serveHttp } from "./git-servers.ts";

const teams = new Map([
  [1, "default"],
  [2, "other"],
]);

const rules = openAccessRules({
  blocked: ["github.com/acme/secret*", "127.0.0.1/blocked/*"],
  protected: [
    { pattern: "github.com/locked", teams: ["other"] },
    { pattern: "github.com/locked/inner", teams: ["third"] },
  ],
  teamName: async (teamId) => teams.get(teamId),
});

const sources = openSourceHosts({
  own: { nameOf: async () => undefined, open: async () => undefined },
  sshDirectory: "/nonexistent",
  policy: openNetworkPolicy({ allowPrivate: ["127.0.0.0/8"], resolve: async () => ["93.184.215.14"] }),
  rules,
  github: null,
});

const check = (url: string, teamId = 1) => sources.check(teamId, [{ url }], never());
const refused = { code: "repository_access" };

test("a blocked repository is refused, however its address is written", async () => {
  for (const url of [
    "https://github.com/acme/secret",
    "https://github.com/acme/secret-plans.git",
    "https://GitHub.com/ACME/Secret.git.git",
    "https://www.github.com/acme/secret",
    "http://github.com/acme/secret",
    "https://github.com:444/acme/secret",
    "git@github.com:acme/secret.git",
    "ssh://git@github.com:2222/acme/secret",
    "ssh://git@ssh.github.com:443/acme/secret",
    "git://github.com/acme/secret",
    "https://github.com/acme/%73ecret",
    "https://github.com./acme/secret",
    "github.com/acme/secret/",
    "http://127.0.0.1:8080/blocked/x",
  ]) {
    await expect(check(url), url).rejects.toMatchObject(refused);
    await expect(
      sources.open(1, url).then((host) => host.reach(async () => {}, never())),
      url,
    ).rejects.toMatchObject(refused);
  }
  await check("https://github.com/acme/open");
  await check("https://gitlab.com/acme/secret");
});

test("an organization protected for a team is available only to its agents", async () => {
  await expect(check("https://github.com/locked/shop")).rejects.toMatchObject(refused);
  await check("https://github.com/locked/shop", 2);
  await expect(check("git@github.com:locked/shop.git", 7)).rejects.toMatchObject(refused);
  await expect(check("https://github.com/locked/inner", 2)).rejects.toMatchObject(refused);
  await check("https://github.com/lockedin/shop");
});

test("percent-encoding, letter case and ports never bypass a rule", async () => {
  const disguised = fc
    .array(fc.constantFrom("plain", "upper", "percent"), { minLength: 6, maxLength: 6 })
    .map((ways) => [..."secret"].map((letter, index) => disguise(letter, ways[index] ?? "plain")).join(""));
  await fc.assert(
    fc.asyncProperty(disguised, fc.integer({ min: 1, max: 65_535 }), async (name, port) => {
      await expect(check(`https://github.com:${port}/acme/${name}`)).rejects.toMatchObject(refused);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});

function disguise(letter: string, way: string): string {
  if (way === "upper") return letter.toUpperCase();
  return way === "percent" ? `%${letter.charCodeAt(0).toString(16)}` : letter;
}

test("a redirect to a blocked repository is not followed", async () => {
  const harness = await openGitHarness({ rules });
  await harness.makeRepository("blocked/shop");
  const target = await serveHttp(harness.served);
  const moved = await serveHttp(harness.served, (request, response) => {
    response.writeHead(301, { location: `${target.url}${request.url?.replace("/old/", "/blocked/")}` }).end();
    return true;
  });
  const host = await harness.sources.open(1, `${moved.url}/old/shop.git`);
  const list = host.reach(
    (remote) => runGit({ location: nowhere, args: ["ls-remote", remote.address], remote }, never()),
    never(),
  );
  await expect(list).rejects.toMatchObject(refused);
  await moved.close();
  await target.close();
  await harness.remove();
});
