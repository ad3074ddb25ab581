// The files of the operating system that programs need. Only these: a directory where an operator may keep a secret, such as
// /etc, /opt, /srv or /var, is not listed as a whole.
import { existsSync } from "node:fs";
import { contains } from "../paths.ts";

const programs = [
  ...["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"],
  ...["bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "include", "share", "games"].map(inUsr),
  ...["bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "share", "games"].map((name) =>
    inUsr(`local/${name}`),
  ),
  ...["go", "cargo", "rustup", "cuda", "nvm"].map((name) => inUsr(`local/${name}`)),
  ...["/nix/store", "/run/current-system/sw", "/gnu/store"],
];

function inUsr(name: string): string {
  return `/usr/${name}`;
}

/** Not `profile.d`, `gitconfig`, `npmrc` and the like: operators put tokens there. */
const settings = [
  ...["alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld-musl-x86_64.path", "ld-musl-aarch64.path"],
  ...["ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates.conf", "ca-certificates", "crypto-policies"],
  ...["pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf", "pki/ca-trust/extracted", "pki/java"],
  ...["localtime", "timezone", "locale.conf", "locale.alias", "os-release", "lsb-release", "debian_version"],
  ...["redhat-release", "fedora-release", "system-release", "alpine-release", "arch-release", "SuSE-release"],
  ...["protocols", "services", "rpc", "networks", "host.conf", "gai.conf", "mime.types", "magic", "magic.mime"],
  ...["inputrc", "terminfo", "shells", "login.defs", "fonts", "xml", "sgml", "perl", "python3", "vim", "ImageMagick-6"],
  ...["python3.9", "python3.10", "python3.11", "python3.12", "python3.13", "java-11-openjdk", "java-17-openjdk"],
  ...["java-21-openjdk", "groff", "papersize"],
].map((name) => `/etc/${name}`);

const systemPaths = [...programs, ...settings];

/** Those that exist here. */
export const existingSystemPaths = (): string[] => systemPaths.filter((path) => existsSync(path));

/** The one that makes this path visible; undefined if none does. */
export const findSystemPath = (path: string): string | undefined =>
  existingSystemPaths().find((directory) => contains(directory, path));

export interface SandboxUser {
  userId: number;
  home: string;
}

/** Instead of the machine's own: users, groups, hosts and how names are looked up. */
export function generatedFiles({ userId, home }: SandboxUser): { path: string; content: string }[] {
  const names = userId === 0 ? [] : [`agent:x:${userId}:${userId}:agent:${home}:/bin/bash`];
  const groups = userId === 0 ? [] : [`agent:x:${userId}:`];
  const rootHome = userId === 0 ? home : "/root";
  return [
    { path: "/etc/passwd", lines: [`root:x:0:0:root:${rootHome}:/bin/bash`, ...names] },
    { path: "/etc/group", lines: ["root:x:0:", ...groups, "nogroup:x:65534:"] },
    { path: "/etc/hosts", lines: ["127.0.0.1 localhost", "::1 localhost ip6-localhost", "127.0.1.1 sandbox"] },
    // Mounts belong to root, also where commands run as another user.
    { path: "/etc/gitconfig", lines: ["[safe]", "\tdirectory = *"] },
    { path: "/etc/nsswitch.conf", lines: ["passwd: files", "group: files", "hosts: files dns"] },
  ].map(({ path, lines }) => ({ path, content: `${lines.join("\n")}\n` }));
}
