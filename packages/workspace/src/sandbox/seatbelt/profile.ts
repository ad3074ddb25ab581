// A policy as a Seatbelt profile for macOS. Paths are parameters, so that none is ever parsed as a rule. Pure.
import { dirname, join } from "node:path";
import type { SandboxPolicy } from "../policy.ts";

export interface SeatbeltProfile {
  profile: string;
  /** Passed as -D NAME=VALUE. */
  parameters: Record<string, string>;
}

/** Paths must be absolute and free of symlinks. Of two matching rules the later one wins. */
export function seatbeltProfile(policy: SandboxPolicy, temporary: string): SeatbeltProfile {
  const roots = policy.mode === "workspace-write" ? [policy.root, ...policy.writableRoots] : [];
  const repositories = roots.length > 0 ? policy.protectedRepositories : [];
  const protectedNames = [
    ...roots.flatMap((root) => policy.protectedNames.map((name) => join(root, name))),
    ...repositories.map((directory) => join(directory, ".git")),
  ];
  const groups: Record<string, string[]> = {
    HIDDEN: [...policy.hidden, ...notShared],
    SHOWN: [policy.root, ...policy.shown],
    WRITABLE: [...roots, temporary],
    PROTECTED: [...protectedNames, ...policy.protectedPaths, ...policy.absentPaths],
    PINNED: repositories.flatMap((directory) => parentsIn(roots, directory)),
  };
  const hiddenInside = policy.hidden.filter((path) =>
    [policy.root, ...roots].some((root) => path.startsWith(`${root}/`)),
  );
  groups.HIDDEN_INSIDE = hiddenInside;
  const lines = [
    base,
    "(allow file-read*)",
    ...rules("deny file-read* file-write*", "HIDDEN", groups),
    ...rules("allow file-read*", "SHOWN", groups),
    ...rules("allow file-read* file-write*", "WRITABLE", groups),
    ...rules("deny file-write*", "PROTECTED", groups),
    // Another directory cannot take the place of one above a repository.
    ...literalRules("deny file-write-unlink file-write-create", "PINNED", groups),
    ...rules("deny file-read* file-write*", "HIDDEN_INSIDE", groups),
    devices,
    ...(policy.network === "on" ? [network] : []),
    ...(policy.unixSockets === "allowed" ? [unixSockets] : []),
  ];
  return { profile: `${lines.join("\n")}\n`, parameters: parametersOf(groups) };
}

/** Shared temporary files, and the runtime directory of services. */
const notShared = ["/private/tmp", "/private/var/run"];

/** The directory and those above it, up to the writable root. */
function parentsIn(roots: string[], directory: string): string[] {
  const parents: string[] = [];
  for (let path = directory; !roots.includes(path) && path !== "/"; path = dirname(path)) parents.push(path);
  return parents;
}

const rulesFor =
  (scope: "subpath" | "literal") =>
  (what: string, group: string, groups: Record<string, string[]>): string[] =>
    (groups[group] ?? []).map((_, index) => `(${what} (${scope} (param "${group}_${index}")))`);

const rules = rulesFor("subpath");
const literalRules = rulesFor("literal");

const parametersOf = (groups: Record<string, string[]>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(groups).flatMap(([group, paths]) => paths.map((path, index) => [`${group}_${index}`, path])),
  );

const base = `(version 1)
(deny default)
(allow process-exec* process-fork)
(allow signal process-info* (target same-sandbox))
(allow sysctl-read)
(allow user-preference-read)
(allow ipc-posix-sem)
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.system.logger"))`;

const devices = `(allow file-read* file-write-data file-ioctl
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/random")
  (literal "/dev/urandom"))
(deny file-read* file-write* (regex #"^/dev/(r?disk|tty|pty|ptmx|bpf)"))`;

const network = `(allow network* (local ip) (remote ip))
(allow system-socket)
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow mach-lookup
  (global-name "com.apple.dnssd.service")
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.trustd.agent"))`;

const unixSockets = "(allow network* (local unix-socket) (remote unix-socket))";
