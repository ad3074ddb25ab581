// Secrets in runs: which value wins, how commands get it, and that a run shows and leaves it nowhere.
import { createHash } from "node:crypto";
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { openLog } from "../../src/foundation/telemetry/index.ts";
import { findLeaks } from "../harness/leaks.ts";
import { openRunHarness, type RunHarness } from "../runs/run-harness.ts";

const shell = (cmd: string) => call("exec_command", { cmd });
const digest = (value: string) => createHash("sha256").update(value).digest("hex").slice(0, 12);

async function set({ client }: RunHarness, path: string, value: string, more: object = {}): Promise<void> {
  const { status, text } = await client.send("PUT", path, { value, ...more });
  expect([200, 201], text).toContain(status);
}

/** A digest of each variable, which tells values apart without showing them. */
const names = ["A_NAME", "B_NAME", "C_NAME", "D_NAME"];
const digests = `for name in ${names.join(" ")}; do printf '%s=%s\\n' $name $(printf %s "\${!name}" | sha256sum | cut -c1-12); done`;
const expected = (values: string[]) => values.map((value, index) => `${names[index]}=${digest(value)}\\n`).join("");

test("create-time values win over the environment's, those over the user's, those over the team's, and an agent keeps what it started with", async () => {
  const harness = await openRunHarness({ replies: { replies: [shell(digests), replyWith("Done.")], repeat: "loop" } });
  const { client } = harness;
  const url = await harness.repository("shop", { "a.txt": "a" });
  const body = { owner: "team", name: "shop", repos: [{ url }], environmentJson: "{}" };
  const environment = JSON.parse((await client.post("/v1/environments", body)).text) as { id: string };
  for (const name of names) await set(harness, `/v1/team/secrets/${name}`, "of-the-team");
  for (const name of names.slice(1)) await set(harness, `/v1/me/secrets/${name}`, "of-the-user");
  for (const name of names.slice(2))
    await set(harness, `/v1/environments/${environment.id}/secrets/${name}`, "of-the-environment");
  await set(harness, "/v1/team/secrets/A_NAME", "of-the-team", { repos: [url] });
  const envVars = { D_NAME: "of-the-request" };
  const first = await client.create({ prompt: { text: "go" }, repos: [{ url }], envVars });
  const values = ["of-the-team", "of-the-user", "of-the-environment", "of-the-request"];
  expect(JSON.stringify(await client.stream(first))).toContain(expected(values));
  const elsewhere = await client.create({ prompt: { text: "go" } });
  const others = ["", "of-the-user", "of-the-user", "of-the-user"];
  expect(JSON.stringify(await client.stream(elsewhere))).toContain(expected(others));
  for (const name of names) await set(harness, `/v1/me/secrets/${name}`, "changed");
  expect((await client.delete("/v1/team/secrets/A_NAME")).status).toBe(200);
  const followUp = await client.followUp(first.agentId, { prompt: { text: "again" } });
  expect(JSON.stringify(await client.stream(followUp))).toContain(expected(values));
  const later = await client.create({ prompt: { text: "go" }, repos: [{ url }], envVars });
  const changed = ["changed", "changed", "of-the-environment", "of-the-request"];
  expect(JSON.stringify(await client.stream(later))).toContain(expected(changed));
});

const canary = "canary-77c1d0/+secret";
const visible = "https://staging.example.com";

/** Everything that an agent can see of its variables. */
const look = "env; tr '\\0' '\\n' < /proc/self/environ; cat /proc/*/environ; printf %s \"$RUNTIME\" | base64; set";

test("commands have a secret as a variable, in no argument; what the run shows and leaves has it redacted, but not a visible variable", async () => {
  const logged: string[] = [];
  const harness = await openRunHarness(
    {
      replies: [
        shell(look),
        shell(
          "cat /proc/*/cmdline; find / -xdev -type f -newer /proc/1 2> /dev/null | head -n 500 | xargs grep -l canary-77c1d0",
        ),
        replyWith(`It is ${canary}.`),
      ],
    },
    openLog({ write: (line) => logged.push(line), now: () => new Date() }),
  );
  const { client, fixture, requests } = harness;
  await set(harness, "/v1/team/secrets/RUNTIME", canary);
  await set(harness, "/v1/team/secrets/VISIBLE", visible, { type: "environment_variable" });
  const ids = await client.create({ prompt: { text: "look" } });
  const shown = await client.streamText(ids);
  expect(shown).toContain("RUNTIME=[REDACTED]");
  expect(shown).toContain(`VISIBLE=${visible}`);
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "It is [REDACTED]." });
  const conversation = (await client.get(`/v1/agents/${ids.agentId}/conversation`)).text;
  const sent = JSON.stringify(requests().map(({ body }) => body));
  expect(sent).toContain("RUNTIME=[REDACTED]");
  const forms = [canary, canary.replaceAll("/", "\\/"), Buffer.from(canary).toString("base64")];
  for (const form of forms) expect(`${shown}${conversation}${sent}`).not.toContain(form);
  expect(await findLeaks({ ...fixture, key: async () => fixture.key }, logged, forms)).toEqual([]);
});

const reversed = 'for ((at = ${#RUNTIME}; at > 0; at--)); do printf %s "${RUNTIME:at-1:1}"; done';

test("an artifact with a secret, also encoded or reversed, is not kept, and the run names the line", async () => {
  const leave = [
    "cd $PLATFORM_ARTIFACTS_DIR",
    "echo fine > fine.txt",
    'printf "one\\ntwo %s" "$RUNTIME" > plain.txt',
    'printf "x%s" "$RUNTIME" | base64 > encoded.txt',
    `(${reversed}) > reversed.txt; ${reversed}`,
  ].join("; ");
  const harness = await openRunHarness({ replies: [shell(leave), replyWith("Done.")] });
  const { client } = harness;
  await set(harness, "/v1/team/secrets/RUNTIME", canary);
  const ids = await client.create({ prompt: { text: "go" } });
  const shown = await client.streamText(ids);
  expect(shown).not.toContain([...canary].reverse().join(""));
  const { items } = await client.getJson<{ items: { path: string }[] }>(`/v1/agents/${ids.agentId}/artifacts`);
  expect(items.map(({ path }) => path)).toEqual(["artifacts/fine.txt"]);
  const { unsavedArtifacts } = (await client.read(ids)) as { unsavedArtifacts?: object[] };
  expect(unsavedArtifacts).toMatchObject([
    {
      path: "artifacts/encoded.txt",
      reason: "secret",
      message: expect.stringMatching(/^Line 1 contains the secret RUNTIME\./),
    },
    {
      path: "artifacts/plain.txt",
      reason: "secret",
      message: expect.stringMatching(/^Line 2 contains the secret RUNTIME\./),
    },
    { path: "artifacts/reversed.txt", reason: "secret" },
  ]);
});

test("the key of one-time passwords is redacted in every form in which oathtool reads and prints it", async () => {
  const key = "jbsw y3dp ehpk 3pxp gezd gnbv";
  const asPrinted = ["JBSWY3DPEHPK3PXPGEZDGNBV", "48656c6c6f21deadbeef3132333435"];
  const forms = [key, key.replaceAll(" ", ""), ...asPrinted];
  const commands = [
    'oathtool --version > /dev/null && echo "has oathtool"; oathtool -v --totp -b "$BY_HAND"',
    'printf "%s " "$BY_HAND" | tr -d " "; printf %s "$BY_HAND" | tr -d " " | tr a-z A-Z',
    'link=${LINK#*secret=}; echo "${link%%&*}"; oathtool -v -b "${link%%&*}"; oathtool -v "$IN_HEX"',
  ];
  const harness = await openRunHarness({ replies: [...commands.map(shell), replyWith(forms.join("\n"))] });
  const { client, fixture, requests } = harness;
  await set(harness, "/v1/team/secrets/BY_HAND", key);
  await set(
    harness,
    "/v1/team/secrets/LINK",
    `otpauth://totp/us?secret=${key.replaceAll(" ", "").toUpperCase()}&digits=6`,
  );
  await set(harness, "/v1/team/secrets/IN_HEX", asPrinted[1]?.toUpperCase() ?? "");
  const ids = await client.create({ prompt: { text: "a code" } });
  const shown = await client.streamText(ids);
  const sent = JSON.stringify(requests().map(({ body }) => body));
  expect(sent).toContain("has oathtool");
  expect(sent).toContain("Base32 secret: [REDACTED]");
  expect(await client.read(ids)).toMatchObject({ result: forms.map(() => "[REDACTED]").join("\n") });
  const leaks = await findLeaks({ ...fixture, key: async () => fixture.key }, [], forms);
  const seen = [shown, sent, ...leaks.filter((path) => !path.includes("/workspaces/"))].join("\n");
  expect(forms.filter((form) => seen.includes(form))).toEqual([]);
});
