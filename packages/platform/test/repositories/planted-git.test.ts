// The platform's own git comes from a directory that no agent can write.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryRepository } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { runGit } from "../../src/repositories/git/index.ts";

test.each(["without a fence", "with a fence"])(
  "a git that an agent left in its work tree is not run %s",
  async (how) => {
    const repository = await temporaryRepository();
    onTestFinished(repository.remove);
    const work = repository.path;
    const mark = join(work, "ran");
    const program = join(work, "tools", "git");
    mkdirSync(join(work, "tools"));
    writeFileSync(program, `#!/bin/sh\ntouch ${mark}\nexec /usr/bin/git "$@"\n`, { mode: 0o755 });
    writeFileSync(join(work, "tools", "bwrap"), `#!/bin/sh\ntouch ${mark}\nexec /usr/bin/bwrap "$@"\n`, {
      mode: 0o755,
    });
    const { PATH } = process.env;
    onTestFinished(() => {
      process.env.PATH = PATH;
    });
    process.env.PATH = `${join(work, "tools")}:${PATH}`;
    const fence = { reads: [work], writes: [join(work, ".git")] };
    const location = { directory: join(work, ".git"), workTree: work, ...(how === "with a fence" && { fence }) };
    expect(await runGit({ location, args: ["rev-parse", "--is-inside-work-tree"] })).toBe("true\n");
    expect(existsSync(mark)).toBe(false);
  },
);
