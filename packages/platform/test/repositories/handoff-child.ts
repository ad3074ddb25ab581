// Hands off one run, described by its argument, in a process that can be killed.

import { join } from "node:path";
import type { GithubSettings } from "../../src/foundation/config/index.ts";
import { openQueries } from "../../src/foundation/db/connect.ts";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";
import { openVault } from "../../src/foundation/vault/index.ts";
import { openGitHost, ownRepositories } from "../../src/repositories/githost/index.ts";
import { openHandoff, type RunSummary, showDueChecks } from "../../src/repositories/handoff/index.ts";
import { openAccessRules, openGithub, openSourceHosts, type PersonalAccess } from "../../src/repositories/scm/index.ts";
import { openSigningKey } from "../../src/repositories/signing/index.ts";
import { defaultLimits, openLocks, openWorkspaces } from "../../src/repositories/workspaces/index.ts";
import { testSigner } from "../harness/signer.ts";
import { checkOptions } from "./check-options.ts";

export interface ChildTask {
  databaseUrl: string;
  data: string;
  serverUrl: string;
  runId: string;
  identity: { name: string; email: string };
  github: GithubSettings | null;
  reviewers: string[];
  /** Null: the platform opens pull requests. */
  personToken: string | null;
  summary: Omit<RunSummary, "endedAt"> & { endedAt: string };
}

const task: ChildTask = JSON.parse(process.argv[2] ?? "");
const { data, summary, identity } = task;
const db = openQueries({ url: task.databaseUrl }, 4, () => {});
const vault = await openVault(db, { kekFile: join(data, "kek") });
const host = openGitHost({
  db,
  vault,
  dataDirectory: data,
  signer: testSigner(data),
  serverUrls: () => [task.serverUrl],
});
const policy = openNetworkPolicy({ allowPrivate: ["127.0.0.0/8"] });
const sources = openSourceHosts({
  policy,
  sshDirectory: join(data, "ssh"),
  own: ownRepositories(host),
  rules: openAccessRules({ blocked: [], protected: [], teamName: async () => undefined }),
  github: task.github && openGithub(task.github, {}),
});
const workspaces = openWorkspaces({
  dataDirectory: data,
  sources,
  locks: openLocks(db),
  limits: defaultLimits,
  identity,
  findPushed: async () => null,
});
const readSummary = async () => ({ ...summary, endedAt: new Date(summary.endedAt) });
const signingKey = openSigningKey({ path: join(data, "signing-key"), isGiven: true });
const reviewersOf = async () => task.reviewers;
const personOf = async () => (task.personToken === null ? null : person(task.personToken));
const handoff = openHandoff({
  db,
  vault,
  workspaces,
  sources,
  identity,
  signingKey,
  readSummary,
  reviewersOf,
  personOf,
});
await handoff.publish(task.runId, new AbortController().signal);
await showDueChecks(checkOptions({ db }, sources), new AbortController().signal);
await db.destroy();

function person(token: string): PersonalAccess {
  return { token: async () => token, disconnected: () => new Error("no such token") };
}
