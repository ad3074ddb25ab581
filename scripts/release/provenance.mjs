// What a release was made from, as an in-toto statement with a predicate of SLSA 1.0: a signer, such as the attestation of a
// workflow, signs it as it is. It names the files by their hashes, the commit, and packages that were fetched by hash.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fetchedPackages } from "./executable.mjs";

export const provenanceFile = "provenance.intoto.json";

/** `files`: paths below `directory`. `parts`: what was asked for. */
export function writeProvenance({ root, directory, files, parts }) {
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: files.map((name) => ({ name, digest: { sha256: sha256(join(directory, name)) } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "https://slsa.dev/provenance/v1#npm-run-release-dry",
        externalParameters: { source: sourceOf(root), command: "npm run release:dry", parts },
        internalParameters: { node: process.version, platform: `${process.platform}-${process.arch}` },
        resolvedDependencies: [
          { uri: sourceOf(root).uri, digest: { gitCommit: sourceOf(root).commit } },
          { uri: "package-lock.json", digest: { sha256: sha256(join(root, "package-lock.json")) } },
          ...(parts.includes("executable") ? fetchedPackages.map(describePackage) : []),
        ],
      },
      runDetails: { builder: { id: builderId() }, metadata: invocationOf() },
    },
  };
  writeFileSync(join(directory, provenanceFile), `${JSON.stringify(statement, null, 2)}\n`);
}

const sha256 = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

const describePackage = ({ name, version, integrity }) => ({
  uri: `pkg:npm/${name}@${version}`,
  digest: { sha512: Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex") },
});

/** Says whether something is not committed: what is signed must be what the commit has. */
function sourceOf(root) {
  const git = (...args) => spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout?.trim() ?? "";
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
  const uri =
    server && repository ? `git+${server}/${repository}` : withoutCredentials(git("remote", "get-url", "origin"));
  return {
    uri: uri || `git+file:${basename(root)}`,
    commit: git("rev-parse", "HEAD"),
    ...(git("status", "--porcelain", "--untracked-files=no") !== "" && { uncommittedChanges: true }),
  };
}

const withoutCredentials = (url) => url.replace(/\/\/[^/@]*@/, "//");

/** The workflow in CI; elsewhere a machine that is not named. */
function builderId() {
  const { GITHUB_SERVER_URL: server, GITHUB_WORKFLOW_REF: workflow } = process.env;
  return server && workflow ? `${server}/${workflow}` : "urn:builder:local";
}

function invocationOf() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: id } = process.env;
  return server && repository && id ? { invocationId: `${server}/${repository}/actions/runs/${id}` } : {};
}
