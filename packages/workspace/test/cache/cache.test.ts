// Build caches in the sandbox: what tools write there, what they find there of the user's, and what stays apart.
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { clearCaches, listCaches, prepareCache } from "../../src/cache/index.ts";
import type { BackEnd } from "../../src/sandbox/back-end.ts";
import { openSandbox } from "../../src/sandbox/launch.ts";
import { type PolicyOptions, sandboxPolicy } from "../../src/sandbox/policy.ts";
import { bash } from "../support/commands.ts";
import { serverProgram } from "../support/server-program.ts";

const backEnds: [name: string, BackEnd][] = [
  ["bubblewrap", { kind: "bubblewrap", program: "/usr/bin/bwrap", processes: "own" }],
  ["Landlock", { kind: "landlock", version: 7 }],
];

let base = "";
const [home, agentHome] = [() => join(base, "home"), () => join(base, "home/.agentcli")];
const caches = () => join(agentHome(), "cache/builds");
beforeEach(() => {
  base = realpathSync(mkdtempSync("/var/tmp/build-caches-"));
  for (const path of ["home/.agentcli", "one", "two"]) mkdirSync(join(base, path), { recursive: true });
  writeFileSync(join(agentHome(), "auth.json"), "secret");
  put(".cargo/registry/cache/index.crates.io-1/serde-1.0.0.crate", "crate");
  put(".cargo/registry/index/index.crates.io-1/.cache/se/rd/serde", "entry");
  put(".cargo/credentials.toml", "secret");
  put(".cargo/config.toml", "[net]\n");
  put(".npm/_cacache/index-v5/aa/entry", "entry\n");
  put(".npm/_cacache/content-v2/sha512/aa/content", "content");
  put("go/pkg/mod/cache/download/example.com/m/@v/list", "v1.0.0\n");
  put(".m2/repository/a/a.jar", "jar");
  put(".gradle/caches/modules-2/files", "files");
  put(".gradle/wrapper/dists/gradle-8-bin/1a/gradle-8-bin.zip.lck", "");
  put(".gradle/wrapper/dists/gradle-8-bin/1a/gradle-8-bin.zip.ok", "");
  put(".gradle/wrapper/dists/gradle-8-bin/1a/gradle-8/bin/gradle", "program");
  put(".cache/pip/wheels/aa/bb/tool-1.0-py3-none-any.whl", "wheel");
  put(".cache/pip/http-v2/a/b/c/d/e/abcde.body", "body");
});
afterEach(() => {
  clearCaches(caches());
  rmSync(base, { recursive: true, force: true });
});

function put(path: string, content: string): void {
  mkdirSync(dirname(join(home(), path)), { recursive: true });
  writeFileSync(join(home(), path), content);
}

const open = async (project: string, backEnd: BackEnd, more: Partial<PolicyOptions> = {}, env = {}) =>
  openSandbox(sandboxPolicy({ mode: "workspace-write", root: join(base, project), hidden: [agentHome()], ...more }), {
    serverProgram: await serverProgram(),
    env: { PATH: process.env.PATH ?? "", HOME: home(), ...env },
    incarnation: randomUUID(),
    backEnd,
    cacheDirectory: caches(),
  });

/** What each tool does with its variable: it makes its directory and writes into it. */
const writes = [
  'mkdir -p "$GOCACHE/00" && echo object > "$GOCACHE/00/object-d"',
  'mkdir -p "$GOMODCACHE/cache/lock" && echo module > "$GOMODCACHE/cache/module"',
  'mkdir -p "$CARGO_HOME" && echo lock > "$CARGO_HOME/.package-cache"',
  'mkdir -p "$CARGO_HOME/registry/src/index.crates.io-1/serde-1.0.0" && touch "$CARGO_HOME/registry/src/index.crates.io-1/serde-1.0.0/.cargo-ok"',
  'mkdir -p "$npm_config_cache/_logs" && echo log > "$npm_config_cache/_logs/debug.log"',
  'mkdir -p "$npm_config_cache/_cacache/tmp" && echo more >> "$npm_config_cache/_cacache/index-v5/aa/entry"',
  'mkdir -p "$PIP_CACHE_DIR/http-v2" && echo wheel > "$PIP_CACHE_DIR/http-v2/wheel"',
  'mkdir -p "$UV_CACHE_DIR/archive-v0" && echo wheel > "$UV_CACHE_DIR/archive-v0/wheel"',
  // The wrapper locks a distribution before it looks whether that is complete.
  'exec 7<> "$GRADLE_USER_HOME/wrapper/dists/gradle-8-bin/1a/gradle-8-bin.zip.lck" && flock -n 7',
  'echo more > "$PIP_CACHE_DIR/wheels/aa/bb/other-1.0-py3-none-any.whl"',
  'mkdir -p "$GRADLE_USER_HOME/daemon" && echo log > "$GRADLE_USER_HOME/daemon/log"',
  'set -- $MAVEN_ARGS; mkdir -p "${1#-Dmaven.repo.local=}" && echo jar > "${1#-Dmaven.repo.local=}/b.jar"',
  'echo jar > "${MAVEN_OPTS#-Dmaven.repo.local=}/c.jar"',
  'mkdir -p "$CCACHE_DIR/0" && echo object > "$CCACHE_DIR/0/object"',
];
/** What each finds of the user's. */
const reads: [commandLine: string, output: string][] = [
  ['cat "$CARGO_HOME/registry/cache/index.crates.io-1/serde-1.0.0.crate"', "crate"],
  ['cat "$CARGO_HOME/registry/index/index.crates.io-1/.cache/se/rd/serde"', "entry"],
  ['cat "$CARGO_HOME/config.toml"', "[net]\n"],
  ['cat "$npm_config_cache/_cacache/content-v2/sha512/aa/content"', "content"],
  ['downloads="${GOPROXY#file://}"; cat "${downloads%,off}/example.com/m/@v/list"', "v1.0.0\n"],
  ['cat "$GRADLE_RO_DEP_CACHE/modules-2/files"', "files"],
  [
    'cd "$GRADLE_USER_HOME/wrapper/dists/gradle-8-bin/1a" && test -f gradle-8-bin.zip.ok && cat gradle-8/bin/gradle',
    "program",
  ],
  [
    'cat "$PIP_CACHE_DIR/wheels/aa/bb/tool-1.0-py3-none-any.whl" "$PIP_CACHE_DIR/http-v2/a/b/c/d/e/abcde.body"',
    "wheelbody",
  ],
  ['set -- $MAVEN_ARGS; cat "${2#-Dmaven.repo.local.tail=}/a/a.jar"; echo "$3"', "jar--offline\n"],
];
/** None of these may reach the user's own files. */
const attacks = [
  'echo evil > "$CARGO_HOME/registry/cache/index.crates.io-1/serde-1.0.0.crate"',
  'echo evil > "$CARGO_HOME/config.toml"',
  'echo evil > "$npm_config_cache/_cacache/content-v2/sha512/aa/content"',
  'downloads="${GOPROXY#file://}"; echo evil > "${downloads%,off}/example.com/m/@v/list"',
  'echo evil > "$HOME/.m2/repository/a/a.jar"',
  'echo evil > "$PIP_CACHE_DIR/wheels/aa/bb/tool-1.0-py3-none-any.whl"',
  'echo evil > "$GRADLE_USER_HOME/wrapper/dists/gradle-8-bin/1a/gradle-8/bin/gradle"',
  'echo evil > "$HOME/.cargo/registry/cache/index.crates.io-1/serde-1.0.0.crate"',
];

describe.each(backEnds)("in %s", (_, backEnd) => {
  test("build tools write their caches, find what the user has, and find their own again in the next run", async () => {
    const first = await open("one", backEnd);
    for (const line of writes)
      expect({ line, ...(await bash(first, line)) }).toMatchObject({ result: { exitCode: 0 } });
    for (const [line, output] of reads)
      expect({ line, ...(await bash(first, line)) }).toMatchObject({ stdout: output });
    await first.close();
    const second = await open("one", backEnd);
    expect((await bash(second, 'cat "$GOCACHE/00/object-d" "$PIP_CACHE_DIR/http-v2/wheel"')).stdout).toBe(
      "object\nwheel\n",
    );
    await second.close();
    const [cache] = listCaches(caches());
    expect(cache).toMatchObject({ project: join(base, "one") });
    expect(statSync(cache?.directory ?? "").mode & 0o777).toBe(0o700);
    expect(existsSync(join(base, "one/.git"))).toBe(false);
  });

  test("nothing of the user's can be changed through it, and no credentials are in it", async () => {
    const workspace = await open("one", backEnd);
    for (const line of attacks)
      expect({ line, ...(await bash(workspace, line)) }).toMatchObject({ result: { exitCode: 1 } });
    expect((await bash(workspace, 'cat "$CARGO_HOME/credentials.toml"')).result).toMatchObject({ exitCode: 1 });
    expect((await bash(workspace, `cat ${agentHome()}/auth.json`)).stdout).toBe("");
    await workspace.close();
    expect(readFileSync(join(home(), ".cargo/registry/cache/index.crates.io-1/serde-1.0.0.crate"), "utf8")).toBe(
      "crate",
    );
    expect(readFileSync(join(home(), ".cargo/config.toml"), "utf8")).toBe("[net]\n");
    expect(readFileSync(join(home(), ".npm/_cacache/index-v5/aa/entry"), "utf8")).toBe("entry\n");
  });

  test("a project neither sees nor changes the cache of another one", async () => {
    const victim = await open("two", backEnd);
    await bash(victim, 'mkdir -p "$GOCACHE" && echo good > "$GOCACHE/object"');
    const { stdout: target } = await bash(victim, 'printf %s "$GOCACHE"');
    const attacker = await open("one", backEnd);
    const script = `echo evil > ${target}/object; ln -s ${target} "$GOCACHE"; echo evil > "$GOCACHE/object"; ls ${target}; ls ${caches()}`;
    const { stdout } = await bash(attacker, script);
    expect(stdout).not.toContain("object");
    await attacker.close();
    expect((await bash(victim, 'cat "$GOCACHE/object"')).stdout).toBe("good\n");
    await victim.close();
    expect(clearCaches(caches(), join(base, "one"))).toHaveLength(1);
    expect(readFileSync(join(target, "object"), "utf8")).toBe("good\n");
  });

  test("the user's own variables win, and read-only keeps nothing", async () => {
    const own = await open("one", backEnd, {}, { CARGO_HOME: "/own/cargo", NPM_CONFIG_CACHE: "/own/npm" });
    expect((await bash(own, 'echo "$CARGO_HOME $npm_config_cache"')).stdout).toBe("/own/cargo \n");
    await own.close();
    const reading = await open("two", backEnd, { mode: "read-only" });
    const script = 'mkdir -p "$GOCACHE" && echo x > "$GOCACHE/x" && echo "${CARGO_HOME-none}"';
    expect((await bash(reading, script)).stdout).toBe("none\n");
    await reading.close();
    expect(listCaches(caches()).map(({ project }) => project)).toEqual([join(base, "one")]);
  });
});

test("a cache that was not used for a month is removed when another project gets one, also where it is read-only", () => {
  const old = prepareCache(caches(), join(base, "one"))?.directory ?? "";
  mkdirSync(join(old, "go-mod/module"), { recursive: true });
  writeFileSync(join(old, "go-mod/module/file"), "x");
  chmodSync(join(old, "go-mod/module"), 0o500);
  const month = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000);
  utimesSync(join(old, "../project.json"), month, month);
  prepareCache(caches(), join(base, "two"));
  expect(listCaches(caches()).map(({ project }) => project)).toEqual([join(base, "two")]);
  expect(readdirSync(caches())).toHaveLength(1);
});

test("where no cache can be created commands work without one", () => {
  writeFileSync(join(base, "file"), "");
  expect(prepareCache(join(base, "file"), join(base, "one"))).toBeUndefined();
});
