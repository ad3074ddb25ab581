// A team with a repository at a fake GitHub, whose events are delivered and processed.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { type FakeGithub, type FakeRepository, startGithub } from "@agentcli/testkit/github";
import { storeDelivery } from "../../src/automations/inbound/deliveries.ts";
import { processEvents } from "../../src/automations/inbound/process.ts";
import { insertSource } from "../../src/automations/inbound/store.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { githubDescription } from "../repositories/github-description.ts";
import { githubSettings } from "../repositories/github-settings.ts";
import { type AutomationHarness, openAutomationHarness } from "./automation-harness.ts";

export interface Scene extends AutomationHarness {
  /** The address for events. */
  hookUrl: string;
  shop: FakeRepository;
  url: string;
  deliver(name: string, payload: object): Promise<void>;
  /** A branch with a commit that changes this file; its commit. */
  commit(branch: string, file: string): Promise<string>;
}

interface Host {
  fake: FakeGithub;
  github: Awaited<ReturnType<typeof githubSettings>>;
}

export interface Scenes {
  fake: FakeGithub;
  /** Another team with another repository each time. */
  scene(): Promise<Scene>;
}

export async function openScenes(): Promise<Scenes> {
  const fake = await startGithub({ description: githubDescription() });
  const github = await githubSettings(fake);
  let count = 0;
  return {
    fake,
    scene() {
      count += 1;
      return openScene({ fake, github }, `acme/asked-${count}`);
    },
  };
}

async function openScene({ fake, github }: Host, name: string): Promise<Scene> {
  const shop = await fake.addRepository(name, { files: { "a.txt": "a\n" }, collaborators: ["ada"] });
  const url = `${fake.url}/${name}`;
  const harness = await openAutomationHarness("2026-03-02T08:00:00Z", {
    sourceHosts: { blocked: [], protected: [], github },
  });
  const { platform, principal } = harness.fixture;
  const key = await teamKey(platform.db, platform.vault, principal.teamId);
  const { source } = await insertSource(platform.db, { teamId: principal.teamId, name: "shop", key });
  return {
    ...{ ...harness, shop, url, hookUrl: `http://127.0.0.1:1/events/github/${source.id}` },
    async deliver(event, payload) {
      const repository = { id: shop.id, html_url: url, default_branch: "main" };
      const body = Buffer.from(JSON.stringify({ repository, ...payload }));
      await storeDelivery(platform.db, { source, deliveryId: randomUUID(), name: event, key, body }, null);
      await processEvents(harness.host);
    },
    commit: (branch, file) => commitFile(shop, branch, file),
  };
}

async function commitFile({ directory }: FakeRepository, branch: string, file: string): Promise<string> {
  const home = await temporaryDirectory();
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", home.path, "-c", "user.name=ada", "-c", "user.email=a@b.c", ...args])
      .toString()
      .trim();
  git("clone", "--quiet", directory, ".");
  git("checkout", "--quiet", "-B", branch);
  mkdirSync(dirname(join(home.path, file)), { recursive: true });
  writeFileSync(join(home.path, file), `${file} ${branch}\n`);
  git("add", ".");
  git("commit", "--quiet", "-m", file);
  git("push", "--quiet", "--force", "origin", branch);
  const commit = git("rev-parse", "HEAD");
  await home.remove();
  return commit;
}

export const trigger = ({ url }: Scene, event: string, more: object = {}) => ({
  triggers: [{ type: "github", event, repos: [url], ...more }],
  target: { type: "none" },
});

export const statuses = async ({ firings }: Scene, automation: { id: string }) =>
  (await firings(automation)).map(({ status, reason }) => reason ?? status).toSorted();

export const pullOf = (scene: Scene, head: string, more: object = {}) => ({
  number: scene.shop.pulls.push({
    ...{ number: scene.shop.pulls.length + 1, title: head, body: "", head, base: "main", author: "ada" },
    ...{ state: "open", isMerged: false, isDraft: false, isFork: false },
    ...{ reviewers: [], requests: [], comments: [], reviews: [], ...more },
  }),
});
