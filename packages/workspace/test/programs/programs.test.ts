// Programs that run outside the sandbox come from directories that neither an agent nor another user can write.
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { findProgram, keepLooks, openHostPrograms, trustedPath } from "../../src/programs/index.ts";

const isRoot = process.geteuid?.() === 0;
const anotherUser = 65534;
/** The number of the call setxattr. */
const setAttribute = process.arch === "x64" ? "188" : "5";

let base = "";
beforeEach(async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  base = directory.path;
});

/** Perl has no function for it. The list: user, a named user or group, group, mask, others. */
const setList = `
  my $none = 0xffffffff;
  my $list = pack("V", 2) . join("", map { pack("vvV", @$_) } sort { $a->[0] <=> $b->[0] }
    [1, 7, $none], [$ARGV[3], $ARGV[4], $ARGV[1]], [4, 7, $none], [16, 7, $none], [32, 5, $none]);
  my $name = "system.posix_acl_access";
  syscall($ARGV[2], $ARGV[0], $name, $list, length($list), 0) == 0 or die "setxattr: $!";
`;

const namedUser = 2;
const namedGroup = 8;
/** Mode 775, with the group that only this user is in. */
const allow = (directory: string, tag: number, id: number, allowed: number) =>
  execFileSync("perl", ["-e", setList, directory, String(id), setAttribute, String(tag), String(allowed)]);

const path = (name: string) => join(base, name);

function plant(file: string): string {
  mkdirSync(dirname(path(file)), { recursive: true, mode: 0o755 });
  writeFileSync(path(file), "#!/bin/sh\n", { mode: 0o755 });
  return path(file);
}

const find = (directories: string[], untrusted: string[] = []) =>
  findProgram("tool", { path: directories.join(":"), untrusted });

test("the first trusted program of PATH is found, by its real path", () => {
  plant("one/tool");
  const real = plant("elsewhere/tool-1.0");
  mkdirSync(path("links"));
  symlinkSync(real, path("links/tool"));
  expect(find([path("links"), path("one")])).toBe(real);
  expect(find([path("nothing"), path("one")])).toBe(path("one/tool"));
});

test("a shim, which starts what files of the workspace name, is used only where there is nothing else", () => {
  plant("asdf/shims/tool");
  plant("one/tool");
  expect(find([path("asdf/shims"), path("one")])).toBe(path("one/tool"));
  expect(find([path("asdf/shims"), path("nothing")])).toBe(path("asdf/shims/tool"));
});

describe("a program is passed over", () => {
  const own = () => {
    plant("own/tool");
    return path("own");
  };
  const expectPassedOver = (directory: string, untrusted: string[] = []) => {
    const safe = own();
    expect(find([directory, safe], untrusted)).toBe(join(safe, "tool"));
    expect(trustedPath({ path: `${directory}:${safe}`, untrusted })).toBe(safe);
  };

  test("in the workspace and below", () => {
    plant("work/bin/tool");
    expectPassedOver(path("work/bin"), [path("work")]);
  });

  test("in the workspace, named through a link", () => {
    plant("work/bin/tool");
    symlinkSync(path("work"), path("link"));
    expectPassedOver(path("link/bin"), [path("work")]);
    expectPassedOver(path("work/bin"), [path("link")]);
  });

  test("if a link inside the workspace leads to it", () => {
    plant("elsewhere/tool");
    mkdirSync(path("work"));
    symlinkSync(path("elsewhere"), path("work/bin"));
    expectPassedOver(path("work/bin"), [path("work")]);
  });

  test("where package managers put the programs of a project, of whichever project", () => {
    plant("project/node_modules/.bin/tool");
    expectPassedOver(path("project/node_modules/.bin"));
    symlinkSync(path("project/node_modules/.bin"), path("bin"));
    expectPassedOver(path("bin"));
  });

  test("in a relative directory", () => {
    const safe = own();
    const back = base.split("/").map(() => "..");
    expect(find([`${back.join("/")}${path("own")}`.replace(/^\//, ""), ".", ""])).toBeUndefined();
    expect(trustedPath({ path: `.::bin:${safe}`, untrusted: [] })).toBe(safe);
  });

  test.each([
    ["that all users can write", 0o777],
    ["that all users can write, sticky as /tmp", 0o1777],
  ])("in a directory %s", (_case, mode) => {
    plant("open/tool");
    chmodSync(path("open"), mode);
    expectPassedOver(path("open"));
  });

  test("below a directory that all users can write", () => {
    plant("open/inner/tool");
    chmodSync(path("open"), 0o777);
    expectPassedOver(path("open/inner"));
  });

  test("that all users can write themselves", () => {
    chmodSync(plant("mine/tool"), 0o777);
    expect(find([path("mine"), own()])).toBe(path("own/tool"));
  });

  // As `setfacl -m u:65533:rwx` writes it.
  test.each([
    ["user", namedUser],
    ["group", namedGroup],
  ])("in a directory that an access control list lets another %s write", (_kind, tag) => {
    plant("listed/tool");
    allow(path("listed"), tag, 65533, 7);
    expectPassedOver(path("listed"));
  });

  // Only root can mount and give files away.
  if (isRoot) {
    test.each([
      ["the workspace", "work", "second/bin"],
      ["a part of the workspace", "work/bin", "second"],
    ])("in a directory where %s is mounted a second time", (_case, mounted, directory) => {
      plant("work/bin/tool");
      mkdirSync(path("second"));
      execFileSync("mount", ["--bind", path(mounted), path("second")]);
      try {
        expectPassedOver(path(directory), [path("work")]);
      } finally {
        execFileSync("umount", [path("second")]);
      }
    });

    test("in a directory of another user", () => {
      plant("theirs/tool");
      chownSync(path("theirs"), anotherUser, 0);
      expectPassedOver(path("theirs"));
    });

    test("in a directory that a group with other members can write", () => {
      plant("shared/tool");
      chownSync(path("shared"), 0, anotherUser);
      chmodSync(path("shared"), 0o775);
      expectPassedOver(path("shared"));
    });
  }
});

// Root is alone in its group, unlike the ordinary user of these tests.
if (isRoot) {
  test.each([
    ["another user only read", namedUser, 65533, 5],
    ["another group only read", namedGroup, 65533, 5],
    ["this user write", namedUser, process.geteuid?.() ?? 0, 7],
  ])("a program in a directory whose access control list lets %s is found", (_who, tag, id, allowed) => {
    plant("listed/tool");
    allow(path("listed"), tag, id, allowed);
    expect(find([path("listed")])).toBe(path("listed/tool"));
  });

  test("without koffi, a directory that the own group of the user can write is trusted, and one of all users is not", async () => {
    plant("own/tool");
    chmodSync(path("own"), 0o775);
    plant("open/tool");
    chmodSync(path("open"), 0o777);
    const { arch } = process;
    onTestFinished(() => {
      Object.defineProperty(process, "arch", { value: arch });
      vi.resetModules();
    });
    // There is no koffi for it.
    Object.defineProperty(process, "arch", { value: "none" });
    vi.resetModules();
    const fresh = await import("../../src/programs/index.ts");
    const search = { path: `${path("open")}:${path("own")}`, untrusted: [] };
    expect(fresh.findProgram("tool", search)).toBe(path("own/tool"));
  });
}

test("what a search has seen is used for its time and no longer, and an agent's directory is never trusted", () => {
  plant("one/tool");
  plant("two/tool");
  let now = 0;
  const looks = keepLooks(100, () => now);
  const search = { path: `${path("one")}:${path("two")}`, untrusted: [] as string[], looks };
  expect(findProgram("tool", search)).toBe(path("one/tool"));
  chmodSync(path("one"), 0o777);
  now = 99;
  expect(trustedPath({ ...search, untrusted: [path("one")] })).toBe(path("two"));
  expect(findProgram("tool", { ...search, untrusted: [path("one")] })).toBe(path("two/tool"));
  expect(findProgram("tool", search)).toBe(path("one/tool"));
  now = 200;
  expect(findProgram("tool", search)).toBe(path("two/tool"));
  expect(trustedPath(search)).toBe(path("two"));
});

test("PATH names what a link leads to: an agent may lead it elsewhere later", () => {
  plant("safe/tool");
  mkdirSync(path("work"));
  symlinkSync(path("safe"), path("work/bin"));
  symlinkSync(path("work/bin"), path("bin"));
  expect(trustedPath({ path: `${path("bin")}:${path("safe")}`, untrusted: [path("work")] })).toBe(path("safe"));
});

test("what is deeper than beside the Node that runs this is not trusted for being there", () => {
  const { execPath } = process;
  onTestFinished(() => {
    process.execPath = execPath;
  });
  process.execPath = path("node");
  plant("open/tool");
  chmodSync(path("open"), 0o777);
  expect(find([path("open")])).toBeUndefined();
});

test("a directory of this user below the sticky /tmp is trusted: other users cannot replace it", () => {
  plant("open/inner/tool");
  chmodSync(path("open"), 0o1777);
  expect(find([path("open/inner")])).toBe(path("open/inner/tool"));
});

describe("the programs of a host", () => {
  const open = () => openHostPrograms({ path: `${path("late")}:${path("own")}`, home: "/nonexistent", untrusted: [] });

  test("stop trusting a directory once an agent may write there", () => {
    plant("late/tool");
    plant("own/tool");
    const programs = open();
    expect([programs.find("tool"), programs.path()]).toEqual([path("late/tool"), `${path("late")}:${path("own")}`]);
    programs.distrust([path("late")]);
    expect([programs.find("tool"), programs.path()]).toEqual([path("own/tool"), path("own")]);
  });

  test("are not taken from the repository around the workspace either", () => {
    plant("late/tool");
    mkdirSync(path(".git"));
    writeFileSync(path(".git/HEAD"), "ref: refs/heads/main\n");
    mkdirSync(path("inner"));
    const programs = open();
    programs.distrust([path("inner")]);
    expect(() => programs.find("tool")).toThrow(
      `The program tool was not found on PATH: ${path("late/tool")} is not used, because an agent or another user may have written it.`,
    );
  });

  test("are looked for again once another user can write where one was found", () => {
    plant("late/tool");
    plant("own/tool");
    const programs = open();
    expect(programs.find("tool")).toBe(path("late/tool"));
    chmodSync(path("late"), 0o777);
    expect(programs.find("tool")).toBe(path("own/tool"));
  });

  test("are looked for in the usual directories without a PATH", () => {
    const programs = openHostPrograms({ path: undefined, home: "/nonexistent", untrusted: [] });
    expect(programs.find("sh")).toMatch(/^\/(usr\/)?bin\//);
  });
});

test("variables that load code keep only what an agent cannot have written", () => {
  mkdirSync(path("work"));
  symlinkSync(path("work"), path("link"));
  const programs = openHostPrograms({ path: "/usr/bin", home: path("home"), untrusted: [path("work")] });
  const environment = (variables: Record<string, string>) => {
    const { PATH: _, ...rest } = programs.environment(variables);
    return rest;
  };
  expect(
    environment({
      LD_LIBRARY_PATH: `:/opt/lib:lib:${path("work/lib")}`,
      PYTHONPATH: `:${path("link/x")}`,
      NODE_PATH: "/opt/node",
      LD_PRELOAD: `libone.so ./two.so /opt/three.so:${path("work/four.so")}`,
      BASH_ENV: "env.sh",
      OPENSSL_CONF: "/etc/ssl/openssl.cnf",
      HOME: path("work"),
    }),
  ).toEqual({
    LD_LIBRARY_PATH: "/opt/lib",
    NODE_PATH: "/opt/node",
    LD_PRELOAD: "libone.so:/opt/three.so",
    OPENSSL_CONF: "/etc/ssl/openssl.cnf",
    HOME: path("work"),
    // Those of this home would be the agent's.
    GIT_CONFIG_GLOBAL: "/dev/null",
    PYTHONNOUSERSITE: "1",
    npm_config_userconfig: "/dev/null",
    SHLVL: "1",
    ZDOTDIR: "/dev/null",
  });
  expect(environment({ HOME: path("home") })).toEqual({ HOME: path("home") });
  for (const NODE_OPTIONS of [
    `--require ${path("work/.pnp.cjs")}`,
    "--require=./x.js",
    "-r dotenv/config",
    "--max-old-space-size=100 --import ./x.mjs",
    "--experimental-loader /opt/x.mjs --loader y",
  ])
    expect([NODE_OPTIONS, environment({ NODE_OPTIONS })]).toEqual([NODE_OPTIONS, {}]);
  for (const NODE_OPTIONS of ["--max-old-space-size=100", "--require /opt/x.js"])
    expect(environment({ NODE_OPTIONS })).toEqual({ NODE_OPTIONS });
  for (const [name, planted, safe] of [
    ["JAVA_TOOL_OPTIONS", `-Xmx1g -javaagent:${path("work/x.jar")}`, "-Xmx1g -javaagent:/opt/x.jar"],
    ["JDK_JAVA_OPTIONS", "-cp x.jar", "-Dfile.encoding=UTF-8"],
    ["LUA_PATH", "./?.lua;;", "/opt/?.lua;;"],
    ["LUA_INIT_5_4", "@./init.lua", "@/opt/init.lua"],
    ["GOFLAGS", "-toolexec=./tools/x", "-mod=mod"],
    ["AWKPATH", path("link/x"), "/opt/awk"],
    ["ERL_LIBS", "_build/lib", "/opt/erl"],
    ["VIMRUNTIME", path("work/vim"), "/usr/share/vim"],
    ["TERMINFO", "terminfo", "/usr/share/terminfo"],
  ] as const) {
    expect([name, environment({ [name]: planted })]).toEqual([name, {}]);
    expect(environment({ [name]: safe })).toEqual({ [name]: safe });
  }
  for (const PERL5OPT of ["-Ilib", "-MEvil", "-I ."]) expect(environment({ PERL5OPT })).toEqual({});
});

describe("a command that a variable names for a shell", () => {
  const editorOf = (EDITOR: string) => {
    mkdirSync(path("home/work"), { recursive: true });
    const programs = openHostPrograms({ path: "/usr/bin", home: path("home"), untrusted: [path("home/work")] });
    return programs.environment({ EDITOR, HOME: path("home") }).EDITOR;
  };

  test.each([
    "~/work/ed",
    "vi -u ~/work/vimrc",
    "$HOME/work/ed",
    "$PWD/ed",
    "${PWD}/ed",
    "true;HERE/ed",
    "cd tools;./ed",
    "true&&HERE/ed",
    "`echo HERE/ed`",
    "HERE/../wor?/ed",
    "BASE/home/w*/ed",
    "BASE/home/wo\\rk/ed",
    'BASE/home/"work"/ed',
    "BASE/home/wo''rk/ed",
    "sh -c 'exec HERE/ed'",
    "firefox:HERE/ed",
    "vi -uHERE/vimrc",
    "./ed",
    "tools/ed",
    "~other/ed",
  ])("is not used if it can lead to the workspace: %s", (command) => {
    expect(editorOf(command.replace("HERE", path("home/work")).replace("BASE", base))).toBeUndefined();
  });

  test.each([
    "vim",
    "code --wait",
    "emacsclient -a ''",
    "~/bin/ed",
    "$HOME/bin/ed -w",
    "vim -c 'set tw=72'",
    "/opt/ed",
  ])("is used if it cannot: %s", (command) => {
    expect(editorOf(command)).toBe(command);
  });
});
