import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot, temporaryDirectory } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { install, listFiles, pack, published } from "./installed.ts";
import { useInstalled } from "./scenario.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let tarballs: string[];
beforeAll(async () => {
  directory = await temporaryDirectory();
  tarballs = await pack(join(directory.path, "tarballs"));
});
afterAll(() => directory.remove());

test("a package has what users need, and neither tests nor sources", async () => {
  expect(tarballs).toHaveLength(published.length);
  for (const tarball of tarballs) {
    const files = await listFiles(tarball);
    expect(files, tarball).toEqual(expect.arrayContaining(["package/README.md", "package/dist/LICENSE"]));
    expect(files.filter((file) => /\/(?:src|test)\/|\.test\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
  }
});

test("a package depends on published versions only", () => {
  for (const name of published) {
    const manifest = JSON.parse(readFileSync(join(projectRoot, "packages", name, "package.json"), "utf8"));
    const { dependencies = {}, optionalDependencies = {} } = manifest;
    for (const [needed, version] of Object.entries({ ...dependencies, ...optionalDependencies })) {
      expect(version, `${needed} of ${name}`).toMatch(/^\d/);
      expect(needed, name).not.toMatch(/^@agentcli\//);
    }
    expect(manifest, name).toMatchObject({ description: expect.any(String), license: "Apache-2.0" });
    expect(manifest, name).not.toHaveProperty("private");
  }
});

test("the packages work from an empty folder, installed without a network from npm's cache", {
  timeout: 600_000,
}, async () => {
  const flags = ["--ignore-scripts"];
  await install(join(directory.path, "first"), tarballs, { network: "allowed", flags });
  await install(join(directory.path, "second"), tarballs, { network: "none", flags });
  await useInstalled(join(directory.path, "second"), process.execPath);
});
