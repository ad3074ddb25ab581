// The profile for macOS, to the word.
import { expect, test } from "vitest";
import type { SandboxPolicy } from "../../src/sandbox/policy.ts";
import { seatbeltProfile } from "../../src/sandbox/seatbelt/profile.ts";

const policy = (more: Partial<SandboxPolicy> = {}): SandboxPolicy => ({
  mode: "read-only",
  root: "/Users/me/project",
  writableRoots: [],
  ignoreTops: null,
  network: "off",
  cache: null,
  unixSockets: "refused",
  sockets: null,
  hidden: ["/Users/me/.ssh"],
  view: "machine",
  userId: null,
  placement: null,
  shown: ["/Users/me/.node/bin/node"],
  protectedNames: [".git", ".agentcli"],
  protectedPaths: [],
  allowedDomains: [],
  deniedDomains: [],
  git: "commit",
  nestedRepositories: "protected",
  absentPaths: [],
  ownDirectories: [],
  protectedRepositories: [],
  nestedSandboxes: "refused",
  ...more,
});

test("read-only reads everything but what is hidden and writes one temporary directory", () => {
  const { profile, parameters } = seatbeltProfile(policy(), "/private/var/folders/t");
  expect(profile).toMatchInlineSnapshot(`
    "(version 1)
    (deny default)
    (allow process-exec* process-fork)
    (allow signal process-info* (target same-sandbox))
    (allow sysctl-read)
    (allow user-preference-read)
    (allow ipc-posix-sem)
    (allow mach-lookup
      (global-name "com.apple.system.opendirectoryd.libinfo")
      (global-name "com.apple.system.opendirectoryd.membership")
      (global-name "com.apple.system.logger"))
    (allow file-read*)
    (deny file-read* file-write* (subpath (param "HIDDEN_0")))
    (deny file-read* file-write* (subpath (param "HIDDEN_1")))
    (deny file-read* file-write* (subpath (param "HIDDEN_2")))
    (allow file-read* (subpath (param "SHOWN_0")))
    (allow file-read* (subpath (param "SHOWN_1")))
    (allow file-read* file-write* (subpath (param "WRITABLE_0")))
    (allow file-read* file-write-data file-ioctl
      (literal "/dev/null")
      (literal "/dev/zero")
      (literal "/dev/random")
      (literal "/dev/urandom"))
    (deny file-read* file-write* (regex #"^/dev/(r?disk|tty|pty|ptmx|bpf)"))
    "
  `);
  expect(parameters).toEqual({
    HIDDEN_0: "/Users/me/.ssh",
    HIDDEN_1: "/private/tmp",
    HIDDEN_2: "/private/var/run",
    SHOWN_0: "/Users/me/project",
    SHOWN_1: "/Users/me/.node/bin/node",
    WRITABLE_0: "/private/var/folders/t",
  });
});

test("workspace-write opens the roots, protects the names in each and hides last", () => {
  const hidden = ["/Users/me/.ssh", "/Users/me/project/secrets"];
  const choice = policy({ mode: "workspace-write", writableRoots: ["/Users/me/more"], hidden });
  const { profile, parameters } = seatbeltProfile(choice, "/t");
  const rules = profile.split("\n").filter((line) => line.includes("param"));
  expect(rules.slice(-8)).toEqual([
    '(allow file-read* file-write* (subpath (param "WRITABLE_0")))',
    '(allow file-read* file-write* (subpath (param "WRITABLE_1")))',
    '(allow file-read* file-write* (subpath (param "WRITABLE_2")))',
    '(deny file-write* (subpath (param "PROTECTED_0")))',
    '(deny file-write* (subpath (param "PROTECTED_1")))',
    '(deny file-write* (subpath (param "PROTECTED_2")))',
    '(deny file-write* (subpath (param "PROTECTED_3")))',
    '(deny file-read* file-write* (subpath (param "HIDDEN_INSIDE_0")))',
  ]);
  expect(parameters).toMatchObject({
    WRITABLE_2: "/t",
    PROTECTED_0: "/Users/me/project/.git",
    PROTECTED_3: "/Users/me/more/.agentcli",
    HIDDEN_INSIDE_0: "/Users/me/project/secrets",
  });
});

test("network and unix sockets each add their own rules", () => {
  const [off, on] = [seatbeltProfile(policy(), "/t"), seatbeltProfile(policy({ network: "on" }), "/t")];
  expect(off.profile).not.toContain("network");
  expect(on.profile).toContain("(allow network* (local ip) (remote ip))");
  expect(on.profile).not.toContain("(remote unix-socket)");
  expect(seatbeltProfile(policy({ unixSockets: "allowed" }), "/t").profile).toContain("(remote unix-socket)");
});

test("a path is never read as a rule", () => {
  const root = '/Users/me/"))(allow default)((';
  const { profile, parameters } = seatbeltProfile(policy({ mode: "workspace-write", root }), "/t");
  expect(profile).not.toContain("allow default");
  expect(parameters.WRITABLE_0).toBe(root);
});

test("the .git of a repository below is read-only, and no directory above it can be replaced", () => {
  const nested = policy({ mode: "workspace-write", protectedRepositories: ["/Users/me/project/deps/lib"] });
  const { profile, parameters } = seatbeltProfile(nested, "/private/var/folders/t");
  expect(profile).toContain(`(deny file-write* (subpath (param "PROTECTED_2")))
(deny file-write-unlink file-write-create (literal (param "PINNED_0")))
(deny file-write-unlink file-write-create (literal (param "PINNED_1")))
`);
  expect(parameters).toMatchObject({
    PROTECTED_2: "/Users/me/project/deps/lib/.git",
    PINNED_0: "/Users/me/project/deps/lib",
    PINNED_1: "/Users/me/project/deps",
  });
});
