import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changeLock, type Lock, manifest, plantClone, setUp } from "./planted-clone.ts";

test.each([
  ["asked for by a package", (lock: Lock) => lock, { dependencies: { "left-pad": "1.3.0" } }],
  ["removed from the lock file", (lock: Lock) => removeEntry(lock, "node_modules/cli"), {}],
])("what the lock file does not have is not installed: %s", (_, change, added) => {
  using planted = plantClone();
  const lock = join(planted.root, "package-lock.json");
  const asking = { ...manifest, dependencies: { cli: "1.0.0" } };
  writeFileSync(join(planted.root, "package.json"), JSON.stringify(asking));
  const locked: Lock = JSON.parse(readFileSync(lock, "utf8"));
  locked.packages[""] = asking;
  writeFileSync(lock, JSON.stringify(change(locked)));
  writeFileSync(
    join(planted.root, "packages/cli/package.json"),
    JSON.stringify({ name: "cli", version: "1.0.0", ...added }),
  );
  const { status, output, errors } = setUp(planted.root);
  expect({ status, output }).toEqual({ status: 1, output: "" });
  expect(errors).toMatch(/package-lock\.json[\s\S]*Run npm install/);
});

test.each([
  ["overrides", { overrides: { "left-pad": "npm:right-pad@1.0.0" } }, {}],
  [
    "a peer of a package that the lock file has",
    {},
    { "node_modules/x": { version: "1.0.0", integrity: "sha512-x", peerDependencies: { "left-pad": "*" } } },
  ],
])("what %s would bring is not installed", (_, more, packages) => {
  using planted = plantClone();
  writeFileSync(join(planted.root, "package.json"), JSON.stringify({ ...manifest, ...more }));
  changeLock(planted.root, (locked) => ({ ...locked, ...packages }));
  expect(setUp(planted.root)).toMatchObject({
    status: 1,
    output: "",
    errors: expect.stringContaining("Run npm install"),
  });
});

test.each(["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"])(
  "%s of both files without an entry of their own are not installed",
  (kind) => {
    using planted = plantClone();
    const asking = { ...manifest, [kind]: { "left-pad": "1.3.0" } };
    writeFileSync(join(planted.root, "package.json"), JSON.stringify(asking));
    changeLock(planted.root, (packages) => ({ ...packages, "": asking }));
    expect(setUp(planted.root)).toMatchObject({
      status: 1,
      output: "",
      errors: expect.stringContaining("package-lock.json has no left-pad, which package.json asks for."),
    });
  },
);

test("an entry without a hash is not installed", () => {
  using planted = plantClone();
  const asking = { ...manifest, dependencies: { "left-pad": "1.3.0" } };
  writeFileSync(join(planted.root, "package.json"), JSON.stringify(asking));
  const entry = { version: "1.3.0", resolved: "https://registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz" };
  changeLock(planted.root, (packages) => ({ ...packages, "": asking, "node_modules/left-pad": entry }));
  expect(setUp(planted.root)).toMatchObject({
    status: 1,
    output: "",
    errors: expect.stringContaining("package-lock.json has no hash of node_modules/left-pad."),
  });
});

const removeEntry = (lock: Lock, name: string): Lock => ({
  ...lock,
  packages: Object.fromEntries(Object.entries(lock.packages).filter(([path]) => path !== name)),
});
