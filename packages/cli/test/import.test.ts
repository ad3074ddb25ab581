import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { proposeFromClaude } from "../src/import/claude.ts";

test("no settings of another tool make a rule that is wider than its entry, or that cannot be read", async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  mkdirSync(join(path, ".claude"));
  const word = fc.oneof(
    fc.constantFrom("git", "rm", "-rf", "$HOME", "*", "a;b", '"', "\\", "`x`", "\u001b[2J"),
    fc.string(),
  );
  const entry = fc.oneof(
    fc.array(word).map((words) => `Bash(${words.join(" ")})`),
    fc.array(word).map((words) => `Bash(${words.join(" ")}:*)`),
    fc.string(),
    fc.jsonValue(),
  );
  const settings = fc.record({
    permissions: fc.record({ allow: fc.array(entry), deny: fc.array(entry) }, { requiredKeys: [] }),
  });
  fc.assert(
    fc.property(settings, (json) => {
      writeFileSync(join(path, ".claude/settings.json"), JSON.stringify(json));
      const { rules } = proposeFromClaude(path);
      const allowed = (json.permissions.allow ?? []).map(String);
      for (const rule of rules) {
        const [, words = "", decision = ""] =
          /^prefix_rule\(pattern = (\[.*?\]), decision = "(\w+)", /.exec(rule) ?? [];
        const pattern = JSON.parse(words) as string[];
        expect(pattern.length).toBeGreaterThan(0);
        expect(pattern.every((each) => /^[\w./:@=+,-]+$/.test(each))).toBe(true);
        if (decision === "allow")
          expect(allowed.some((each) => /(?::\*|\s\*)\)$/.test(each) && each.includes(pattern[0] ?? ""))).toBe(true);
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 300) },
  );
});
