// The exact command line of the sandbox.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bubblewrapArguments, type MountPlan, privateMounts } from "../../src/sandbox/bubblewrap/arguments.ts";
import { planMounts } from "../../src/sandbox/bubblewrap/plan.ts";
import { hiddenByDefault } from "../../src/sandbox/personal-paths.ts";
import { type PolicyOptions, sandboxPolicy } from "../../src/sandbox/policy.ts";
import { temporaryDirectory } from "../support/locations.ts";

const inside = { argv: ["node", "server.cjs"], seccompDescriptor: 3 };
const plan = (more: Partial<MountPlan> = {}): MountPlan => ({
  root: "/home/me/project",
  network: "off",
  nestedSandboxes: "refused",
  processes: "own",
  userId: null,
  placement: null,
  mounts: privateMounts({ euid: 1000 }),
  ...more,
});
const commandLine = (what: MountPlan) => bubblewrapArguments(what, inside).join(" ");

test("the smallest sandbox sees everything and writes nothing but /tmp", () => {
  expect(commandLine(plan())).toBe(
    "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net " +
      "--die-with-parent --new-session --cap-drop ALL --disable-userns --hostname sandbox " +
      "--ro-bind / / --dev /dev --proc /proc --perms 1777 --tmpfs /tmp --perms 0755 --tmpfs /run " +
      "--perms 1777 --tmpfs /dev/shm --remount-ro /dev --remount-ro /proc --chdir /home/me/project --seccomp 3 -- node server.cjs",
  );
});

test("with a shared /proc no private one is mounted", () => {
  const line = commandLine(plan({ processes: "shared" }));
  expect(line).toContain("--ro-bind /proc /proc");
  for (const word of ["--unshare-pid", "--proc ", "--disable-userns", "--remount-ro /proc"])
    expect(line).not.toContain(word);
});

test("real root gets the kernel's settings masked", () => {
  expect(commandLine(plan({ mounts: privateMounts({ euid: 0 }) }))).toContain("--proc /proc");
  expect(commandLine(plan({ mounts: privateMounts({ euid: 0 }) }))).toContain("--ro-bind /proc/sys /proc/sys");
});

test("parents are mounted before children, whatever their order in the plan", () => {
  const mounts = [
    { kind: "absent", path: "/w/p/.git" } as const,
    { kind: "read-only", path: "/w/p/home/skills", source: "/w/p/home/skills" } as const,
    { kind: "hidden-directory", path: "/w/p/home" } as const,
    { kind: "hidden-file", path: "/w/p/.netrc" } as const,
    { kind: "writable", path: "/w/p" } as const,
  ];
  expect(commandLine(plan({ mounts }))).toContain(
    "--bind /w/p /w/p --perms 0555 --tmpfs /w/p/.git --perms 0555 --tmpfs /w/p/home --ro-bind /dev/null /w/p/.netrc " +
      "--ro-bind /w/p/home/skills /w/p/home/skills --remount-ro /w/p/.git --remount-ro /w/p/home",
  );
});

test("network, nested sandboxes and a missing filter each change their own arguments", () => {
  expect(commandLine(plan({ network: "on" }))).not.toContain("--unshare-net");
  expect(commandLine(plan({ nestedSandboxes: "allowed" }))).not.toContain("--disable-userns");
  expect(bubblewrapArguments(plan(), { ...inside, seccompDescriptor: undefined })).not.toContain("--seccomp");
});

let base = "";
beforeEach(() => {
  base = temporaryDirectory();
});
afterEach(() => rmSync(base, { recursive: true }));

/** Mounts beyond those every sandbox has, with the base directory written as ~. */
const mountsOf = (choice: Omit<PolicyOptions, "root">, euid = 1000) =>
  planMounts(sandboxPolicy({ root: join(base, "w"), ...choice }), { euid, home: "/home/me" })
    .mounts.slice(privateMounts({ euid }).length)
    .map((mount) => `${mount.kind} ${mount.path.replace(base, "~")}`);

test("read-only shows a root under /tmp and protects nothing, because nothing can be written", () => {
  mkdirSync(join(base, "w/.git"), { recursive: true });
  expect(mountsOf({ mode: "read-only" })).toEqual(["read-only ~/w"]);
});

test("workspace-write binds the roots, protects existing names and masks missing ones", () => {
  mkdirSync(join(base, "w/.git"), { recursive: true });
  mkdirSync(join(base, "more"));
  const protectedNames = [".git", ".agents"];
  expect(mountsOf({ mode: "workspace-write", writableRoots: [join(base, "more")], protectedNames })).toEqual([
    "writable ~/w",
    "writable ~/more",
    "read-only ~/w/.git",
    "absent ~/w/.agents",
    "absent ~/more/.git",
    "absent ~/more/.agents",
  ]);
});

test("what hooks run is read-only, and no directory above it can be renamed", () => {
  for (const path of ["w/.git", "w/tools/deep", "elsewhere"]) mkdirSync(join(base, path), { recursive: true });
  for (const path of ["w/tools/deep/x.sh", "w/.git/y.sh", "elsewhere/z.sh"]) writeFileSync(join(base, path), "");
  const protectedPaths = ["w/tools/deep/x.sh", "w/.git/y.sh", "w/missing.sh", "elsewhere/z.sh"].map((path) =>
    join(base, path),
  );
  expect(mountsOf({ mode: "workspace-write", protectedPaths, protectedNames: [".git"] })).toEqual([
    "writable ~/w",
    "read-only ~/w/.git",
    "writable ~/w/tools",
    "writable ~/w/tools/deep",
    "read-only ~/w/tools/deep/x.sh",
  ]);
});

test("hidden paths are resolved; missing ones and those in private directories are skipped", () => {
  mkdirSync(join(base, "w/keys"), { recursive: true });
  writeFileSync(join(base, "w/netrc"), "");
  writeFileSync(join(base, "not-visible"), "");
  symlinkSync(join(base, "w/keys"), join(base, "link"));
  const hidden = ["link", "w/netrc", "w/nothing", "not-visible"].map((path) => join(base, path));
  expect(mountsOf({ mode: "workspace-write", hidden, protectedNames: [] })).toEqual([
    "hidden-directory ~/w/keys",
    "hidden-file ~/w/netrc",
    "writable ~/w",
  ]);
});

test("credentials of the account are hidden wherever HOME points", () => {
  const hidden = hiddenByDefault("/elsewhere", "/agent");
  expect(hidden).toEqual(expect.arrayContaining(["/agent", "/elsewhere/.ssh", join(userInfo().homedir, ".ssh")]));
});

test("a .git file cannot uncover a hidden path", () => {
  mkdirSync(join(base, "w"));
  mkdirSync(join(base, "keys"));
  writeFileSync(join(base, "keys/HEAD"), "ref: refs/heads/main");
  writeFileSync(join(base, "w/.git"), `gitdir: ${join(base, "keys")}\n`);
  const mounts = mountsOf({ mode: "workspace-write", hidden: [join(base, "keys")], protectedNames: [".git"] });
  expect(mounts).toEqual(["writable ~/w", "read-only ~/w/.git"]);
});

test("a writable directory that does not exist is refused by name", () => {
  mkdirSync(join(base, "w"));
  expect(() => mountsOf({ mode: "workspace-write", writableRoots: [join(base, "nowhere")] })).toThrow(
    `${base}/nowhere does not exist`,
  );
});
