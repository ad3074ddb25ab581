import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plantRepository } from "./planted.ts";
import { repositoryRoot } from "./tree.ts";

const manifest = { name: "clone", version: "1.0.0", workspaces: ["packages/*"] };

const tools = [
  "bwrap",
  "git",
  "curl",
  "perl",
  "tmux",
  "ssh",
  "python3",
  "sudo",
  "go",
  "cargo",
  "chromium",
  "buildah",
  "rg",
];

/** A clone with nothing to download, whose build leaves a mark. */
function plantClone() {
  const planted = plantRepository({
    "package.json": JSON.stringify(manifest),
    "packages/cli/package.json": '{"name": "cli", "version": "1.0.0"}',
    "package-lock.json": JSON.stringify({
      ...{ name: "clone", version: "1.0.0", lockfileVersion: 3 },
      packages: {
        "": manifest,
        "node_modules/cli": { resolved: "packages/cli", link: true },
        "packages/cli": { version: "1.0.0" },
      },
    }),
    "packages/cli/src/a.ts": "export {};",
    "scripts/build.mjs": 'import { mkdirSync } from "node:fs"; mkdirSync("packages/cli/dist", { recursive: true });',
    ...Object.fromEntries(tools.map((name) => [`bin/${name}`, "#!/bin/sh\n"])),
  });
  for (const name of tools) chmodSync(join(planted.root, "bin", name), 0o755);
  for (const script of ["setup.mjs", "system-tools.mjs", "locked.mjs"])
    cpSync(join(repositoryRoot, "scripts", script), join(planted.root, "scripts", script));
  return planted;
}

function setUp(root: string, env: NodeJS.ProcessEnv = {}) {
  const path = `${process.env.PATH}:${join(root, "bin")}`;
  const run = spawnSync(process.execPath, ["scripts/setup.mjs"], {
    cwd: root,
    env: { ...process.env, PATH: path, ...env },
    encoding: "utf8",
  });
  return { status: run.status, output: run.stdout, errors: run.stderr };
}

test("a fresh clone is installed and built, and a second setup prints nothing", () => {
  using planted = plantClone();
  const first = setUp(planted.root);
  expect(first).toMatchObject({ status: 0, output: expect.stringContaining("npm install") });
  expect(first.output).toContain("Building");
  expect(setUp(planted.root)).toMatchObject({ status: 0, output: "" });
});

test("a changed, a new and a missing file each lead to a build", () => {
  using planted = plantClone();
  setUp(planted.root);
  const source = join(planted.root, "packages/cli/src/b.ts");
  const changes = [
    () => writeFileSync(source, "export {};"),
    () => utimesSync(source, new Date(), new Date(0)),
    () => rmSync(source),
    () => rmSync(join(planted.root, "packages/cli/dist"), { recursive: true }),
  ];
  for (const change of changes) {
    change();
    expect(setUp(planted.root).output).toBe("Building: node scripts/build.mjs\n");
    expect(setUp(planted.root).output).toBe("");
  }
});

test("another lock file leads to one install that leaves it as it is", () => {
  using planted = plantClone();
  setUp(planted.root);
  const lock = join(planted.root, "package-lock.json");
  writeFileSync(lock, `${readFileSync(lock, "utf8")}\n`);
  expect(setUp(planted.root).output).toContain("npm install");
  expect(setUp(planted.root).output).toBe("");
  expect(readFileSync(lock, "utf8")).toMatch(/\}\n$/);
});

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

test("an optional peer needs no entry", () => {
  using planted = plantClone();
  const peers = { peerDependencies: { "left-pad": "1" }, peerDependenciesMeta: { "left-pad": { optional: true } } };
  writeFileSync(join(planted.root, "package.json"), JSON.stringify({ ...manifest, ...peers }));
  changeLock(planted.root, (packages) => ({ ...packages, "": { ...manifest, ...peers } }));
  expect(setUp(planted.root)).toMatchObject({ status: 0, output: expect.stringContaining("npm install") });
});

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

function changeLock(root: string, change: (packages: Lock["packages"]) => Lock["packages"]): void {
  const path = join(root, "package-lock.json");
  const lock: Lock = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...lock, packages: change(lock.packages) }));
}

interface Lock {
  packages: Record<string, object>;
}
const removeEntry = (lock: Lock, name: string): Lock => ({
  ...lock,
  packages: Object.fromEntries(Object.entries(lock.packages).filter(([path]) => path !== name)),
});

test("a build that fails ends the set-up and is tried again", () => {
  using planted = plantClone();
  writeFileSync(join(planted.root, "scripts/build.mjs"), "process.exit(3)");
  for (let attempt = 1; attempt <= 2; attempt++) {
    const { status, errors } = setUp(planted.root);
    expect(status).not.toBe(0);
    expect(errors).toContain("scripts/build.mjs failed (exit code 3)");
  }
});

/** Asks the tools script in a process of its own about an imaginary machine. */
function toolsOn(host: { uid: number; osRelease: string; path: string; installs: boolean }) {
  const script = `
    import { provideSystemTools } from ${JSON.stringify(join(repositoryRoot, "scripts/system-tools.mjs"))};
    const install = (packages) => { console.log("installed " + packages); return ${host.installs}; };
    provideSystemTools({ ...${JSON.stringify(host)}, install });`;
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  return run.stdout + run.stderr;
}

const debian = 'PRETTY_NAME="X"\nID=debian\n';
const ubuntuLike = 'ID=other\nID_LIKE="ubuntu debian"\n';

test("missing tools are installed by root on Debian and its kin", () => {
  for (const osRelease of [debian, ubuntuLike]) {
    const output = toolsOn({ uid: 0, osRelease, path: "/nowhere", installs: true });
    expect(output).toBe(
      "Installing with apt-get: bubblewrap git curl perl tmux openssh-client python3-venv sudo golang-go cargo chromium buildah ripgrep\ninstalled bubblewrap,git,curl,perl,tmux,openssh-client,python3-venv,sudo,golang-go,cargo,chromium,buildah,ripgrep\n",
    );
  }
});

test("elsewhere one line says what to run, and so it does when the installation fails", () => {
  const line = "sudo apt-get update && sudo apt-get install -y --no-install-recommends bubblewrap git";
  expect(toolsOn({ uid: 1000, osRelease: debian, path: "/nowhere", installs: true })).toMatch(
    new RegExp(`^Missing: .*${line}.*\n$`),
  );
  expect(toolsOn({ uid: 0, osRelease: "ID=fedora\n", path: "/nowhere", installs: true })).toContain(line);
  expect(toolsOn({ uid: 0, osRelease: debian, path: "/nowhere", installs: false })).toContain(`That failed. Missing`);
});

test("nothing is printed when all tools are installed", () => {
  using planted = plantClone();
  expect(toolsOn({ uid: 0, osRelease: debian, path: join(planted.root, "bin"), installs: false })).toBe("");
});
