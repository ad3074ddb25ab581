// Which policy wins of team, user and environment, and what it lists.
import { expect, test } from "vitest";
import { type PolicySources, resolvePolicy } from "../../src/egress/policy.ts";
import { presetHosts } from "../../src/egress/presets.ts";

const none: PolicySources = { team: null, user: null, environment: undefined, always: ["git.example"] };
const team = { mode: "allowlist_only", allowlist: ["team.example"], locked: false } as const;
const user = { mode: "default_plus_allowlist", allowlist: ["user.example"] } as const;
const environment = { mode: "allowlist_only", allowlist: ["env.example"] } as const;
const copy = <Value>(value: Value) => structuredClone(value) as never;

test("without any policy all public hosts may be reached", () => {
  expect(resolvePolicy(none)).toMatchObject({ mode: "allow_all", source: "server", allowed: ["*", "git.example"] });
});

test("the environment wins over the user, and the user over the team", () => {
  const all = { ...none, team: copy(team), user: copy(user), environment: copy(environment) };
  expect(resolvePolicy(all)).toMatchObject({ source: "environment", allowed: ["env.example", "git.example"] });
  const inherits = { ...all, environment: { mode: "inherit" } as const };
  expect(resolvePolicy(inherits).allowed).toEqual([...presetHosts, "user.example", "git.example"]);
  expect(resolvePolicy({ ...inherits, user: null })).toMatchObject({
    source: "team",
    allowed: ["team.example", "git.example"],
  });
});

test("an environment may add to what it inherits", () => {
  const added = { mode: "inherit_plus", allowlist: ["env.example:8443"] } as const;
  expect(resolvePolicy({ ...none, team: copy(team), environment: copy(added) })).toMatchObject({
    source: "team",
    allowed: ["team.example", "env.example:8443", "git.example"],
  });
});

test("a locked policy of the team wins over all others, whatever they add", () => {
  for (const mode of ["allow_all", "inherit_plus", "default_plus_allowlist"] as const) {
    const locked = { ...none, team: copy({ ...team, locked: true }), user: copy(user) };
    expect(resolvePolicy({ ...locked, environment: copy({ mode, allowlist: ["env.example"] }) })).toEqual({
      mode: "allowlist_only",
      source: "team",
      locked: true,
      allowed: ["team.example", "git.example"],
    });
  }
});
