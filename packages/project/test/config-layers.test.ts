import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTrusted, loadConfig } from "../src/index.ts";
import { machine, trusted } from "./machine.ts";

test("with nothing configured there are the defaults", async () => {
  const { request } = await machine();
  const { config, overridden, origins, warnings, layers } = await loadConfig(request());
  expect(config).toMatchObject({ sandbox_mode: "read-only", approval_policy: "never", limits: { tool: "10m" } });
  expect({ overridden, warnings }).toEqual({ overridden: {}, warnings: [] });
  expect(new Set([...origins.values()].map(({ kind }) => kind))).toEqual(new Set(["default"]));
  expect(layers).toHaveLength(1);
});

test("each layer wins over those below it", async () => {
  const { request, write, repository, pathOf } = await machine();
  const cwd = join(repository, "inner");
  mkdirSync(cwd);
  const layers: { file: string; kind: string }[] = [
    { file: "system/config.toml", kind: "system" },
    { file: "home/config.toml", kind: "user" },
    { file: "home/work.config.toml", kind: "profile" },
    { file: "repository/.agentcli/config.toml", kind: "project" },
    { file: "repository/inner/.agentcli/config.toml", kind: "project" },
  ];
  write({ "home/work.config.toml": "" });
  const asked = request({ cwd, profile: "work", projectTrust: "granted" });
  for (const { file, kind } of layers) {
    write({ [file]: `model = "${file}"` });
    const { config, origins } = await loadConfig(asked);
    expect(config.model).toBe(file);
    expect(origins.get("model")).toEqual({ kind, path: pathOf(file) });
  }
  const overridden = await loadConfig({ ...asked, overrides: ["model=c"] });
  expect([overridden.config.model, overridden.origins.get("model")]).toEqual(["c", { kind: "override" }]);
  const flag = { flag: "--model", key: ["model"], value: "flag" };
  const flagged = await loadConfig({ ...asked, overrides: ["model=c"], flags: [flag] });
  expect([flagged.config.model, flagged.origins.get("model")]).toEqual(["flag", { kind: "flag", flag: "--model" }]);
  expect(flagged.overridden).toEqual({ model: "flag" });
});

test("tables merge key by key, lists are replaced", async () => {
  const { request } = await machine({
    "system/config.toml": '[model_providers.a]\nname = "A"\nbase_url = "http://a"\n[limits]\nidle = "1s"\n',
    "home/config.toml": 'notify = ["x", "y"]\n[model_providers.a]\nname = "B"\n',
    "home/p.config.toml": 'notify = ["z"]\n',
  });
  const { config } = await loadConfig(request({ profile: "p", overrides: ["limits.tool=2s"] }));
  expect(config.model_providers).toEqual({ a: { name: "B", base_url: "http://a" } });
  expect(config.notify).toEqual(["z"]);
  expect(config.limits).toMatchObject({ idle: "1s", tool: "2s", stdin: "1s" });
});

test("relative paths are relative to their layer", async () => {
  const roots = (list: string) => `[sandbox_workspace_write]\nwritable_roots = [${list}]\n`;
  const { request, home, repository, write } = await machine({ "home/config.toml": roots('"cache", "/abs"') });
  const rootsOf = async (more = {}) => (await loadConfig(request(more))).config.sandbox_workspace_write.writable_roots;
  expect(await rootsOf()).toEqual([join(home, "cache"), "/abs"]);
  const items = ["/more"];
  const flags = [{ flag: "--add-dir", key: ["sandbox_workspace_write", "writable_roots"], items }];
  expect(await rootsOf({ flags })).toEqual([join(home, "cache"), "/abs", "/more"]);
  expect(await rootsOf({ overrides: ['sandbox_workspace_write.writable_roots=["here"]'] })).toEqual([
    join(repository, "here"),
  ]);
  write({ "repository/.agentcli/config.toml": roots('"../build"') });
  expect(await rootsOf({ projectTrust: "granted" })).toEqual([join(repository, "build")]);
});

test("--ignore-user-config leaves out config.toml and the profile, not the system's", async () => {
  const { request } = await machine({
    "system/config.toml": 'model = "system"\n',
    "home/config.toml": 'model = "user"\n',
    "home/p.config.toml": 'model = "profile"\n',
  });
  const { config } = await loadConfig(request({ userConfig: "ignored", profile: "p" }));
  expect(config.model).toBe("system");
});

describe("a file that cannot be used is an error that names it", () => {
  test.each([
    ["not TOML", "model =", "home/config.toml", "is not valid TOML"],
    ["a value of the wrong kind", "model = 3", "home/config.toml", "model must be string"],
    [
      "a profile of the wrong kind",
      "sandbox_mode = true",
      "home/p.config.toml",
      "sandbox_mode must be one of read-only",
    ],
    ["a system file of the wrong kind", "limits = 1", "system/config.toml", "limits must be a table"],
  ])("%s", async (_, text, file, complaint) => {
    const { request, pathOf } = await machine({ "home/p.config.toml": "", [file]: text });
    const refused = loadConfig(request({ profile: "p" }));
    await expect(refused).rejects.toMatchObject({ name: "ConfigError" });
    await expect(refused).rejects.toThrow(complaint);
    await expect(refused).rejects.toThrow(pathOf(file));
  });

  test("a missing profile, with the existing ones", async () => {
    const { request, pathOf } = await machine({ "home/ci.config.toml": "", "home/work.config.toml": "" });
    await expect(loadConfig(request({ profile: "wrok" }))).rejects.toThrow(
      `There is no profile wrok: ${pathOf("home/wrok.config.toml")} does not exist. Available profiles: ci, work.`,
    );
    await expect(loadConfig(request({ profile: "../evil" }))).rejects.toThrow("letters, digits, - and _ only");
  });
});

test("any text in a file is accepted, or rejected with a message that names the file", async () => {
  const { request, write, pathOf } = await machine();
  const word = fc.constantFrom(
    "model",
    "limits",
    "=",
    '"x"',
    "[",
    "]",
    "{",
    "}",
    ".",
    "\n",
    "1",
    "true",
    "'''",
    "#",
    " ",
  );
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(word).map((words) => words.join("")),
  );
  await fc.assert(
    fc.asyncProperty(text, async (config) => {
      write({ "home/config.toml": config });
      const outcome = await loadConfig(request()).catch((error: Error) => error);
      if (outcome instanceof Error) {
        expect(outcome).toMatchObject({
          name: "ConfigError",
          message: expect.stringContaining(pathOf("home/config.toml")),
        });
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});

describe("unknown keys", () => {
  const files = { "home/config.toml": 'modle = "x"\n[limits]\nidel = "1s"\n' };

  test("are warnings that name the file and the key, and have no effect", async () => {
    const { request, pathOf } = await machine(files);
    const { warnings, config, origins } = await loadConfig(request({ overrides: ["verbose=true"] }));
    expect(warnings).toEqual([
      `${pathOf("home/config.toml")}: unknown key modle (did you mean model?); it is ignored.`,
      `${pathOf("home/config.toml")}: unknown key limits.idel (did you mean idle?); it is ignored.`,
      "-c: unknown key verbose; it is ignored.",
    ]);
    expect(Object.keys(config)).not.toContain("modle");
    expect(origins.has("limits.idel")).toBe(false);
  });

  test("are refused when the configuration is strict, all of them at once", async () => {
    const { request } = await machine(files);
    await expect(loadConfig(request({ unknownKeys: "refuse" }))).rejects.toThrow(/modle.*limits\.idel/);
  });
});

describe("a project's own configuration", () => {
  const local = { "repository/.agentcli/config.toml": 'model = "local"\n' };

  test("is not used before the project is trusted, and the warning says what to do", async () => {
    const { request, pathOf, repository } = await machine(local);
    const { config, warnings, layers, project } = await loadConfig(request());
    expect(config.model).not.toBe("local");
    expect(warnings).toEqual([expect.stringContaining(`agentcli trust ${repository}`)]);
    const path = pathOf("repository/.agentcli/config.toml");
    expect(layers.at(-1)).toMatchObject({ state: "disabled", origin: { kind: "project", path } });
    expect(project).toEqual({ root: repository, mainRoot: repository, trusted: false });
  });

  test("may be invalid where it is not trusted, but not where it is", async () => {
    const { request, write } = await machine({ "repository/.agentcli/config.toml": "model = [" });
    expect((await loadConfig(request())).warnings).toHaveLength(1);
    await expect(loadConfig(request({ projectTrust: "granted" }))).rejects.toThrow("is not valid TOML");
    write({ "repository/.agentcli/config.toml": "sandbox_mode = 1" });
    await expect(loadConfig(request({ projectTrust: "granted" }))).rejects.toThrow("sandbox_mode must be");
  });

  test("is used when the user's configuration trusts the project, from any directory of it", async () => {
    const { request, write, repository } = await machine(local);
    write({ "home/config.toml": trusted(repository) });
    const cwd = join(repository, "deep/er");
    mkdirSync(cwd, { recursive: true });
    const { config, project } = await loadConfig(request({ cwd }));
    expect(config.model).toBe("local");
    expect(project.trusted).toBe(true);
    expect(isTrusted(cwd, config)).toBe(true);
  });

  test("the nearest decision counts", async () => {
    const { request, write, repository, pathOf } = await machine(local);
    const inner = join(repository, "vendor");
    write({
      "repository/vendor/.agentcli/config.toml": 'model = "vendor"\n',
      "home/config.toml": `${trusted(repository)}[projects."${inner}"]\ntrust_level = "untrusted"\n`,
    });
    const { config, warnings } = await loadConfig(request({ cwd: inner }));
    expect(config.model).toBe("local");
    expect(warnings).toEqual([expect.stringContaining(pathOf("repository/vendor/.agentcli/config.toml"))]);
  });

  test("cannot set providers, notifications or trust", async () => {
    const { request, pathOf } = await machine({
      "repository/.agentcli/config.toml":
        'model = "fine"\nmodel_provider = "evil"\nnotify = ["curl"]\n[model_providers.evil]\nbase_url = "http://evil"\n[projects."/"]\ntrust_level = "trusted"\n',
    });
    const { config, warnings } = await loadConfig(request({ projectTrust: "granted" }));
    expect(config).toMatchObject({ model: "fine", model_provider: "openai" });
    expect(config).not.toHaveProperty("model_providers");
    expect(config).not.toHaveProperty("projects");
    expect(warnings).toEqual([
      `${pathOf("repository/.agentcli/config.toml")}: a project may not set model_provider, model_providers, notify, projects; ignored. Set it in the config.toml of your agent home.`,
    ]);
  });

  test("an agent home inside the project is not the project's", async () => {
    const { request, repository, write } = await machine(local);
    write({ "repository/.agentcli/config.toml": 'model = "mine"\n' });
    const { config, origins, warnings } = await loadConfig(request({ home: join(repository, ".agentcli") }));
    expect([config.model, origins.get("model")?.kind, warnings]).toEqual(["mine", "user", []]);
  });
});

describe("trust of a worktree", () => {
  test("comes from the repository it belongs to", async () => {
    const { request, write, repository, git, pathOf } = await machine();
    const worktree = pathOf("home/tree");
    await git("worktree", "add", "--quiet", worktree);
    write({ "home/config.toml": trusted(repository), "home/tree/.agentcli/config.toml": 'model = "tree"\n' });
    const { config, project } = await loadConfig(request({ cwd: worktree }));
    expect(config.model).toBe("tree");
    expect(project).toMatchObject({ root: worktree, mainRoot: repository });
  });

  test("is not inherited by a directory that only claims to belong to it", async () => {
    const { request, write, repository, git, pathOf } = await machine();
    await git("worktree", "add", "--quiet", pathOf("home/tree"));
    write({ "home/config.toml": trusted(repository) });
    const claims = {
      "the git directory of another worktree": `gitdir: ${join(repository, ".git/worktrees/tree")}\n`,
      "a git directory it brings along": "gitdir: fake\n",
    };
    for (const claim of Object.values(claims)) {
      write({
        "home/evil/.agentcli/config.toml": 'model = "evil"\n',
        "home/evil/.git": claim,
        "home/evil/fake/commondir": join(repository, ".git"),
        "home/evil/fake/gitdir": join(pathOf("home/evil"), ".git"),
        "home/evil/fake/HEAD": "ref: refs/heads/main\n",
      });
      const { config } = await loadConfig(request({ cwd: pathOf("home/evil") }));
      expect(config.model).not.toBe("evil");
    }
  });
});

test("other markers can define the root of a project", async () => {
  const { request, write, repository } = await machine({
    "home/config.toml": 'project_root_markers = ["TOP"]\n',
    "repository/.agentcli/config.toml": 'model = "above the mark"\n',
    "repository/part/.agentcli/config.toml": 'model = "at the mark"\n',
  });
  write({ "repository/part/TOP": "" });
  writeFileSync(join(repository, "part/file"), "");
  const { config, project } = await loadConfig(request({ cwd: join(repository, "part"), projectTrust: "granted" }));
  expect([config.model, project.root]).toEqual(["at the mark", join(repository, "part")]);
});
