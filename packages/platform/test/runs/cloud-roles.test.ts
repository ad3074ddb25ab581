// An agent with a cloud role gets credentials of AWS that the platform obtained: they work, end, and are shown nowhere.
import { call, replyWith } from "@agentcli/testkit";
import { type FakeSts, startFakeSts } from "@agentcli/testkit/aws";
import { expect, onTestFinished, test } from "vitest";
import type { Settings } from "../../src/foundation/config/index.ts";
import { openLog } from "../../src/foundation/telemetry/index.ts";
import { findLeaks } from "../harness/leaks.ts";
import { localMachines } from "../harness/settings.ts";
import { openRunHarness, type RunHarness, type RunHarnessOptions } from "./run-harness.ts";

const arn = "arn:aws:iam::111122223333:role/teams/agents";
const variable = "PLATFORM_CLOUD_ASSUME_IAM_ROLE_ARN";
const shell = (cmd: string) => call("exec_command", { cmd });

/** As the tools of AWS do: the program that the profile names answers with JSON. */
const ask = `eval "$(sed -n 's/^credential_process = //p' "$AWS_CONFIG_FILE")"`;
const read = (name: string) => `$(printf %s "$c" | sed 's/.*"${name}":"\\([^"]*\\)".*/\\1/')`;
/** A request that is signed with them. */
const whoAmI = ({ endpoint, region }: FakeSts) =>
  [
    `c=$(${ask})`,
    `curl -sS --noproxy '' --aws-sigv4 aws:amz:${region}:sts --user "${read("AccessKeyId")}:${read("SecretAccessKey")}" -H "x-amz-security-token: ${read("SessionToken")}" -d 'Action=GetCallerIdentity&Version=2011-06-15' ${endpoint}/`,
  ].join("; ");

interface Opened extends RunHarness {
  logged: string[];
  teamId: number;
}

async function open(
  sts: FakeSts,
  identity: "credentials" | "token",
  { replies, settings }: Pick<RunHarnessOptions, "replies" | "settings">,
): Promise<Opened> {
  const { endpoint, region, accessKeyId, secretAccessKey } = sts;
  const credentials = {
    accessKeyVariable: "STS_ID",
    secretKeyVariable: "STS_SECRET",
    sessionTokenVariable: "STS_TOKEN",
  };
  const cloudRoles: Settings["cloudRoles"] = {
    ...{ endpoint, region, audience: "sts.amazonaws.com" },
    credentials: identity === "credentials" ? credentials : null,
  };
  const variables = { PATH: process.env.PATH, STS_ID: accessKeyId, STS_SECRET: secretAccessKey };
  const logged: string[] = [];
  const log = openLog({ write: (line) => logged.push(line), now: () => new Date() });
  const harness = await openRunHarness({ replies, settings: { cloudRoles, variables, ...settings } }, log);
  const { client, fixture } = harness;
  const { teamId } = fixture.principal;
  const allowlist = [new URL(endpoint).host];
  await client.send("PATCH", "/v1/team/settings", { egress: { mode: "allowlist_only", allowlist, locked: true } });
  sts.roles.set(
    arn,
    identity === "credentials"
      ? { trusts: "credentials", externalId: `platform-team-${teamId}` }
      : { trusts: "token", issuer: client.url, audience: "sts.amazonaws.com", subject: `team_id:${teamId}` },
  );
  return { ...harness, logged, teamId };
}

async function openSts(): Promise<FakeSts> {
  const sts = await startFakeSts();
  onTestFinished(sts.close);
  return sts;
}

async function setRole({ client }: RunHarness, value = arn): Promise<void> {
  const { status, text } = await client.send("PUT", `/v1/team/secrets/${variable}`, { value });
  expect(status, text).toBeLessThan(300);
}

const assumed = (sts: FakeSts) => sts.requests.filter(({ Action }) => Action?.startsWith("AssumeRole"));

test.each([
  { identity: "credentials" as const, provider: "host", settings: {} },
  { identity: "token" as const, provider: "local", settings: { machines: localMachines } },
])(
  "commands on the provider $provider use a role that was assumed with the platform's $identity, and its credentials are shown and stored nowhere",
  async ({ identity, settings }) => {
    const sts = await openSts();
    const steps = [
      shell(`${whoAmI(sts)}; echo "$AWS_PROFILE $AWS_SDK_LOAD_CONFIG"`),
      shell(`${ask}; ${ask} | base64 -w0; env`),
    ];
    const harness = await open(sts, identity, { replies: [...steps, replyWith("Done.")], settings });
    await setRole(harness);
    const { client, requests, fixture, logged, teamId } = harness;
    const ids = await client.create({ prompt: { text: "who am I?" } });
    const shown = await client.streamText(ids);
    const conversation = (await client.get(`/v1/agents/${ids.agentId}/conversation`)).text;
    const sent = JSON.stringify(requests().map(({ body }) => body));

    expect(sent).toContain(`<Arn>arn:aws:sts::111122223333:assumed-role/teams/agents/${ids.agentId}</Arn>`);
    expect(sent).toContain("platform-cloud-agent 1");
    expect(sent).toContain(`${variable}=${arn}`);
    expect(sent).toMatch(
      /\\"SecretAccessKey\\":\\"\[REDACTED\]\\",\\"SessionToken\\":\\"\[REDACTED\]\\",\\"Expiration\\"/,
    );
    // Three programs have asked, and AWS once: the credentials last. As no team, the operator does not get them.
    const asked = { RoleArn: arn, RoleSessionName: ids.agentId, DurationSeconds: "3600" };
    const externalIds = [`platform-team-${teamId}`, "platform-team-0"];
    expect(assumed(sts)).toMatchObject(
      identity === "credentials" ? externalIds.map((ExternalId) => ({ ...asked, ExternalId })) : [asked],
    );
    expect(sts.sessions).toHaveLength(1);
    const [session = expect.fail("no credentials were given out")] = sts.sessions;
    const values = [session.secretAccessKey, session.sessionToken];
    const seen = { shown, conversation, sent };
    for (const [name, text] of Object.entries(seen))
      expect({ name, values: values.filter((value) => text.includes(value)) }).toEqual({ name, values: [] });
    // Neither is it in the files of the machine, or of the socket.
    expect(await findLeaks({ ...fixture, key: async () => fixture.key }, logged, values)).toEqual([]);
    const audit = await client.getJson<{ items: object[] }>("/v1/audit?limit=100");
    expect(audit.items).toContainEqual(expect.objectContaining({ action: "cloud_role.assumed", subject: ids.agentId }));
  },
);

test("credentials that are about to expire are replaced, and given on while they last if AWS refuses others", async () => {
  const sts = await openSts();
  const keyId = `${ask} | sed 's/.*"AccessKeyId":"\\([^"]*\\)".*/key \\1./'`;
  const harness = await open(sts, "credentials", {
    replies: [shell(keyId), shell(keyId), shell(keyId), replyWith("Done.")],
  });
  await setRole(harness);
  sts.setLifetime(14 * 60);
  sts.failAfter(2, "AccessDenied");
  const { client, requests } = harness;
  const ids = await client.create({ prompt: { text: "go" } });
  await client.stream(ids);
  const last = JSON.stringify(requests().at(-1)?.body);
  const [first, second] = sts.sessions.map(({ accessKeyId }) => `key ${accessKeyId}.`);
  expect(sts.sessions).toHaveLength(2);
  expect(last.split(first ?? "none")).toHaveLength(2);
  expect(last.split(second ?? "none")).toHaveLength(3);
});

test.each([
  {
    name: "a trust policy for another external id",
    change: (sts: FakeSts) => sts.roles.set(arn, { trusts: "credentials", externalId: "another" }),
    message:
      /AWS gives no credentials for the role arn:aws:iam::111122223333:role\/teams\/agents: AccessDenied .*sts:ExternalId is platform-team-\d+/,
  },
  {
    name: "credentials of the server that AWS does not know",
    variables: { STS_ID: "AKIAOTHER" },
    message:
      /InvalidClientTokenId .*An operator has to put other credentials into the variable that cloud_roles\.access_key_id_env names/,
  },
  {
    name: "a wrong secret key of the server",
    variables: { STS_SECRET: "wrong" },
    message: /SignatureDoesNotMatch .*cloud_roles\.secret_access_key_env/,
  },
  {
    name: "a token for another audience",
    identity: "token" as const,
    change: (sts: FakeSts, { client, teamId }: Opened) =>
      sts.roles.set(arn, { trusts: "token", issuer: client.url, audience: "other", subject: `team_id:${teamId}` }),
    message:
      /InvalidIdentityToken .*needs an identity provider \(OpenID Connect\) for http:\/\/127\.0\.0\.1:\d+ with the audience sts\.amazonaws\.com/,
  },
  {
    name: "a trust policy for another team",
    identity: "token" as const,
    change: (sts: FakeSts, { client }: Opened) =>
      sts.roles.set(arn, { trusts: "token", issuer: client.url, audience: "sts.amazonaws.com", subject: "team_id:0" }),
    message: /AccessDenied .*the subject is team_id:\d+/,
  },
  {
    name: "a service that fails",
    change: (sts: FakeSts) => sts.failAfter(0, "InternalFailure"),
    message:
      /No credentials for the role arn:aws:iam::111122223333:role\/teams\/agents: http:\/\/127.* did not answer \(status 500 InternalFailure\)\. Try again/,
  },
])("$name: the program that asks fails, and names the role and what to do", async (row) => {
  const sts = await openSts();
  const {
    identity = "credentials",
    variables = {},
    change,
    message,
  } = {
    ...{ variables: undefined, change: undefined, identity: undefined },
    ...row,
  };
  const replies = [shell(`${ask}; echo "exit $?"`), replyWith("Done.")];
  const keys = { PATH: process.env.PATH, STS_ID: sts.accessKeyId, STS_SECRET: sts.secretAccessKey, ...variables };
  const harness = await open(sts, identity, { replies, settings: { variables: keys } });
  await setRole(harness);
  change?.(sts, harness);
  const ids = await harness.client.create({ prompt: { text: "go" } });
  await harness.client.stream(ids);
  const sent = JSON.stringify(harness.requests().at(-1)?.body);
  expect(sent).toMatch(message);
  expect(sent).toContain("exit 1");
  expect(sts.sessions).toEqual([]);
});

test("a commit with credentials of the role is not pushed, and an agent without a role has no profile", async () => {
  const sts = await openSts();
  const commit = `${ask} > notes.txt`;
  const replies = [
    shell(commit),
    replyWith("Done."),
    shell('echo "profile: ${AWS_PROFILE:-none}"'),
    replyWith("Done."),
  ];
  const harness = await open(sts, "credentials", { replies });
  await setRole(harness);
  const { client } = harness;
  const url = await harness.repository("shop", { "a.txt": "a" });
  const ids = await client.create({ prompt: { text: "go" }, repos: [{ url }] });
  const ended = await client.waitForRun(ids);
  expect(ended).toMatchObject({ status: "ERROR", error: { code: "secret_in_commit" } });
  expect(JSON.stringify(ended)).toContain("notes.txt");
  await client.send("DELETE", `/v1/team/secrets/${variable}`);
  await client.stream(await client.create({ prompt: { text: "go" } }));
  expect(JSON.stringify(harness.requests().at(-1)?.body)).toContain("profile: none");
});

test.each([
  { name: "no ARN", body: { value: "agents" }, message: "has to be the ARN of a role of AWS" },
  {
    name: "the ARN of a user",
    body: { value: "arn:aws:iam::111122223333:user/agents" },
    message: "has to be the ARN of a role of AWS",
  },
  {
    name: "bound to a host",
    body: { value: arn, hosts: ["sts.amazonaws.com"] },
    message: "names a role and is not sent to any host",
  },
])("the secret of a role is refused: $name", async ({ body, message }) => {
  const { client } = await openRunHarness({ replies: [] });
  const { status, text } = await client.send("PUT", `/v1/team/secrets/${variable}`, body);
  expect(status).toBe(400);
  expect(text).toContain(message);
});
