// Secrets of builds: `install` has them, the log and the result do not, and commands of agents get only those for runs.
import type { Build } from "@agentcli/protocol/api";
import fc from "fast-check";
import { expect, test } from "vitest";
import { withoutSecrets } from "../../src/environments/builds/redacted-log.ts";
import { openMachines } from "../../src/machines/index.ts";
import { type EnvironmentHarness, openEnvironmentHarness } from "../environments/environment-harness.ts";
import { commandWith } from "../harness/command.ts";

const canary = "canary-b0411d-value";

const set = (harness: EnvironmentHarness, ...argv: string[]): Promise<string> => setTo(canary, harness, argv);

const setTo = (value: string, { fixture }: EnvironmentHarness, argv: string[]): Promise<string> => {
  const { databaseUrl } = fixture;
  const platform = { ...fixture.platform, settings: { ...fixture.platform.settings, databaseUrl } };
  return commandWith(value, { platform }, ["secrets", "set", ...argv]);
};

async function built(harness: EnvironmentHarness, environmentId: string): Promise<Build & { log: string }> {
  const build = await harness.ended((await harness.builds(environmentId))[0] ?? expect.fail("no build"));
  return { ...build, log: await harness.log(build) };
}

test("install gets secrets of the phases build and both, of the team and not of a user, and the log has their names only", async () => {
  const harness = await openEnvironmentHarness();
  await set(harness, "FOR_BUILD", "--phase", "build");
  await set(harness, "FOR_BOTH", "--phase", "both");
  await set(harness, "FOR_RUN");
  await harness.client.send("PUT", "/v1/me/secrets/OF_USER", { value: canary });
  const count =
    'for name in FOR_BUILD FOR_BOTH FOR_RUN OF_USER; do eval "value=\\$$name"; echo "$name ${#value}"; done';
  const encoded = 'printf %s "$FOR_BUILD" | base64';
  const { id } = await harness.create("shop", { config: { install: `${count}; env; ${encoded}` } });
  const { status, log } = await built(harness, id);
  expect(status, log).toBe("SUCCEEDED");
  expect(log).toContain("Secrets of this build: FOR_BOTH, FOR_BUILD\n");
  expect(log).toContain(`FOR_BUILD ${canary.length}\nFOR_BOTH ${canary.length}\nFOR_RUN 0\nOF_USER 0\n`);
  expect(log).toContain("FOR_BUILD=[REDACTED]");
  for (const form of [canary, Buffer.from(canary).toString("base64")]) expect(log).not.toContain(form);
});

test("a build names the secrets that its install or its start uses and does not get, and how to give them", async () => {
  const harness = await openEnvironmentHarness();
  for (const name of ["FOR_RUN", "FOR_RUN_2", "UNUSED"]) await set(harness, name);
  await set(harness, "FOR_BUILD", "--phase", "build");
  await set(harness, "FOR_BOTH", "--phase", "both");
  const config = {
    install: 'echo "${FOR_RUN_2:-none} $FOR_RUN $FOR_BOTH $FOR_BUILD"',
    start: "serve $FOR_BUILD $FOR_RUN",
  };
  const { log } = await built(harness, (await harness.create("shop", { config })).id);
  const both = (name: string) => `and does not get it. For both: platform secrets set ${name} --phase both\n`;
  for (const name of ["FOR_RUN", "FOR_RUN_2"])
    expect(log).toContain(`install uses ${name}, a secret for commands of agents alone, ${both(name)}`);
  expect(log).toContain(`start or a terminal uses FOR_BUILD, a secret for builds alone, ${both("FOR_BUILD")}`);
  expect(log.match(/ uses \w+, a secret for /g)).toHaveLength(3);
});

test("the log of a build has no secret, however the output is cut into pieces", () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 30, maxLength: 30 });
  fc.assert(
    fc.property(lengths, (sizes) => {
      let written = "";
      const write = (text: string) => {
        written += text;
      };
      const log = withoutSecrets({ write, close: async () => {} }, [{ name: "A", value: canary }]);
      let rest = `before ${canary} between ${canary}${canary} after`;
      for (const size of sizes) {
        log.write(rest.slice(0, size));
        rest = rest.slice(size);
      }
      log.write(rest);
      void log.close();
      expect(written).toBe("before [REDACTED] between [REDACTED][REDACTED] after");
    }),
  );
});

test("a build whose install leaves a secret in a file fails and names the file", async () => {
  const harness = await openEnvironmentHarness({ executor: "machines" });
  await set(harness, "FOR_BUILD", "--phase", "build");
  const clean = await harness.create("clean", { config: { install: 'test -n "$FOR_BUILD" && echo fine > ~/fine' } });
  const good = await built(harness, clean.id);
  const { obstacle } = await (await openMachines(harness.fixture.platform.settings).provider()).capabilities();
  if (obstacle !== null) return expect(good.log).toContain(obstacle);
  expect(good.status, good.log).toBe("SUCCEEDED");
  const install = 'printf %s "//registry/:_authToken=$FOR_BUILD" | base64 > ~/npmrc; touch -d 2001-01-01 ~/npmrc';
  const leaky = await harness.create("leaky", { config: { install } });
  const bad = await built(harness, leaky.id);
  expect(bad, bad.log).toMatchObject({ status: "FAILED", failure: { type: "INSTALL_FAILED" } });
  expect(bad.log).toContain("A secret of this build is in /root/npmrc. Have install remove it");
  expect(await harness.active(leaky.id)).toBeUndefined();
});

test("a secret that is too short to be redacted does not fail every build", async () => {
  const harness = await openEnvironmentHarness({ executor: "machines" });
  await setTo("abc", harness, ["FOR_BUILD", "--phase", "build"]);
  const { id } = await harness.create("shop", { config: { install: 'test -n "$FOR_BUILD" && echo 616263 > ~/fine' } });
  const { status, log } = await built(harness, id);
  const { obstacle } = await (await openMachines(harness.fixture.platform.settings).provider()).capabilities();
  if (obstacle !== null) return expect(log).toContain(obstacle);
  expect(status, log).toBe("SUCCEEDED");
});
