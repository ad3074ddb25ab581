// Builds whose programs lie to the server.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openImages } from "../../src/images/index.ts";
import { openMachines } from "../../src/machines/index.ts";
import { built, hasMachines, openWithEnvironments, runOf } from "./machine-harness.ts";

test("a build whose programs lie about what install left has the server make nothing outside the agent's directory", async () => {
  const harness = await openWithEnvironments("ls -d plain");
  const { settings } = harness.fixture.platform;
  const { provider, limits } = openMachines(settings);
  if (!(await hasMachines(harness))) return;
  const images = openImages({ settings, provider, limits });
  const listed = ["d ./../../planted", "d ./shop/../../../planted", "d ./shop/plain"].map((entry) => `${entry}\\0`);
  images.setBase((await images.importArchive(await imageWithFind(`printf '${listed.join("")}'`), "root.tar")).digest);
  const url = await harness.repository("shop", { file: "" });
  const { id } = await harness.create("shop", { repos: [url], config: { install: "mkdir plain" } });
  expect(await built(harness, id)).toMatchObject({ status: "SUCCEEDED" });
  expect((await runOf(harness, { repos: [{ url }] })).text).toContain("plain\\n");
  const planted = [harness.dataDirectory, join(harness.dataDirectory, "workspaces")];
  for (const directory of planted) expect(readdirSync(directory)).not.toContain("planted");
});

/** A root directory with a shell and little more, whose `find` is this script. */
async function imageWithFind(script: string): Promise<Readable> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const programs = ["sh", "bash", "ls", "mkdir", "xargs", "tar", "cat", "dirname"].map((name) => `/usr/bin/${name}`);
  const libraries = [process.execPath, ...programs].flatMap((program) =>
    [...execFileSync("ldd", [program], { encoding: "utf8" }).matchAll(/(\/\S+) \(0x/g)].map(([, file = ""]) => file),
  );
  for (const file of new Set([...programs, ...libraries])) {
    mkdirSync(join(path, dirname(file)), { recursive: true });
    cpSync(file, join(path, file), { dereference: true });
  }
  symlinkSync("usr/bin", join(path, "bin"));
  for (const name of ["dev", "proc", "tmp", "run", "root", "etc"]) mkdirSync(join(path, name));
  writeFileSync(join(path, "usr/bin/find"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return Readable.from([execFileSync("tar", ["-C", path, "-c", "."], { maxBuffer: 1024 ** 3 })]);
}
