// What is reported of settings of agentcli that a run created or changed.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { findNestedRepositories } from "../../../src/sandbox/repositories/nested.ts";
import { watchRepositories } from "../../../src/sandbox/repositories/watch.ts";
import { eachTestHasARoot, openWatch, root } from "./watched-root.ts";

eachTestHasARoot();

describe("a watch", () => {
  test("sets new settings of agentcli aside, which a trusted project would use, and reports changed ones", async () => {
    const write = (path: string) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), 'sandbox_mode = "danger-full-access"');
    };
    for (const name of ["before", "untouched"]) write(`${name}/.agentcli/config.toml`);
    const watch = await openWatch();
    write("before/.agentcli/rules/all.rules");
    write("api/.agentcli/config.toml");
    write("rules/.agentcli/rules/all.rules");
    write("skills/.agentcli/skills/a/SKILL.md");
    mkdirSync(join(root, "link"));
    symlinkSync("../elsewhere", join(root, "link/.agentcli"));
    const aside = (name: string, why: string) =>
      `This run created settings of agentcli in ${name}. Its .agentcli was renamed to .agentcli.untrusted, because in a trusted project agentcli would use them there (${why}). Check it, and rename it back to use it.`;
    expect(await watch.findChanges()).toEqual([
      "This run changed settings of agentcli in before. Check its .agentcli before you run agentcli there: in a trusted project agentcli would use them there (config.toml, rules).",
      aside("api", "config.toml"),
      aside("link", "it leads elsewhere"),
      aside("rules", "rules"),
    ]);
    expect(await watch.findChanges()).toEqual([]);
    const kept = (name: string) => existsSync(join(root, name, ".agentcli"));
    expect(["before", "untouched", "api", "rules", "skills"].map(kept)).toEqual([true, true, false, false, true]);
  });

  test("also looks at the settings of the workspace itself where they are not protected", async () => {
    const nested = await findNestedRepositories([root]);
    const watch = watchRepositories({
      roots: [root],
      nested,
      rootRepositories: "watched",
      newRepositories: "set-aside",
    });
    mkdirSync(join(root, ".agentcli"));
    writeFileSync(join(root, ".agentcli/config.toml"), "");
    expect(await watch.findChanges()).toEqual([
      expect.stringContaining("created settings of agentcli in the workspace. Its .agentcli was renamed"),
    ]);
  });
});
