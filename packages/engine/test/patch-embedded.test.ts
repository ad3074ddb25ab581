// Which shell commands only apply a patch.
import { describe, expect, test } from "vitest";
import { readEmbeddedPatch } from "../src/patch/embedded.ts";

const body = "*** Begin Patch\n*** Delete File: a\n*** End Patch";

describe("a shell command that only applies a patch is recognised", () => {
  const scripts: [string, string | undefined][] = [
    [`apply_patch <<'EOF'\n${body}\nEOF`, undefined],
    [`  apply_patch <<"PATCH"\n${body}\nPATCH\n\n`, undefined],
    [`apply_patch <<EOF\r\n${body.replaceAll("\n", "\r\n")}\r\nEOF\r\n`, undefined],
    [`cd src/app && apply_patch <<'EOF'\n${body}\nEOF`, "src/app"],
    [`cd 'my dir' && apply_patch <<'EOF'\n${body}\nEOF`, "my dir"],
    [`cd "/a b/c"&&apply_patch <<'EOF'\n${body}\nEOF`, "/a b/c"],
  ];
  test.each(scripts)("%j", (script, workdir) => {
    expect(readEmbeddedPatch(script)).toEqual(workdir === undefined ? { patch: body } : { workdir, patch: body });
  });
});

describe("a shell command that does more is left to the shell", () => {
  test.each([
    `apply_patch <<'EOF'\n${body}\nEOF\nrm -rf x`,
    `apply_patch <<'EOF'\n${body}\nEOF\necho\nEOF`,
    `apply_patch <<'EOF' && ls\n${body}\nEOF`,
    `apply_patch <<'EOF'\n${body}`,
    `ls; apply_patch <<'EOF'\n${body}\nEOF`,
    `cd a; apply_patch <<'EOF'\n${body}\nEOF`,
    `cd a || apply_patch <<'EOF'\n${body}\nEOF`,
    `cd $HOME && apply_patch <<'EOF'\n${body}\nEOF`,
    `cd "$(ls)" && apply_patch <<'EOF'\n${body}\nEOF`,
    `cd ~ && apply_patch <<'EOF'\n${body}\nEOF`,
    `cd - && apply_patch <<'EOF'\n${body}\nEOF`,
    `cd a b && apply_patch <<'EOF'\n${body}\nEOF`,
    `cat <<'EOF'\n${body}\nEOF`,
    `apply_patch '${body}'`,
    "ls",
    "",
  ])("%j", (script) => {
    expect(readEmbeddedPatch(script)).toBeNull();
  });
});
