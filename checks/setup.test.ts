import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changeLock, manifest, plantClone, setUp } from "./planted-clone.ts";
import { repositoryRoot } from "./tree.ts";

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

test("an optional peer needs no entry", () => {
  using planted = plantClone();
  const peers = { peerDependencies: { "left-pad": "1" }, peerDependenciesMeta: { "left-pad": { optional: true } } };
  writeFileSync(join(planted.root, "package.json"), JSON.stringify({ ...manifest, ...peers }));
  changeLock(planted.root, (packages) => ({ ...packages, "": { ...manifest, ...peers } }));
  expect(setUp(planted.root)).toMatchObject({ status: 0, output: expect.stringContaining("npm install") });
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
      "Installing with apt-get: bubblewrap git curl perl tmux openssh-client python3-venv sudo golang-go cargo oathtool chromium buildah ripgrep\ninstalled bubblewrap,git,curl,perl,tmux,openssh-client,python3-venv,sudo,golang-go,cargo,oathtool,chromium,buildah,ripgrep\n",
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
