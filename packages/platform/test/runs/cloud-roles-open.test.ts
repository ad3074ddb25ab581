// Roles of AWS that the operator's credentials get, whichever team asks: of no use to any team.
import { call, replyWith } from "@agentcli/testkit";
import { startFakeSts } from "@agentcli/testkit/aws";
import { expect, onTestFinished, test } from "vitest";
import { openRunHarness } from "./run-harness.ts";

const variable = "PLATFORM_CLOUD_ASSUME_IAM_ROLE_ARN";
const own = "arn:aws:iam::999988887777:role/administrators";
const ask = 'curl -sS --unix-socket "$PLATFORM_AGENT_SOCKET" http://localhost/v1/credentials/aws';

test("a role that the operator's credentials get as any team, such as one of the operator's account, is given to none", async () => {
  const { endpoint, region, accessKeyId, secretAccessKey, roles, close } = await startFakeSts();
  onTestFinished(close);
  roles.set(own, { trusts: "credentials", externalId: null });
  const credentials = { accessKeyVariable: "STS_ID", secretKeyVariable: "STS_SECRET", sessionTokenVariable: "NONE" };
  const { client, requests } = await openRunHarness({
    replies: [call("exec_command", { cmd: ask }), replyWith("Done.")],
    settings: {
      cloudRoles: { endpoint, region, audience: "sts.amazonaws.com", credentials },
      variables: { PATH: process.env.PATH, STS_ID: accessKeyId, STS_SECRET: secretAccessKey },
    },
  });
  expect((await client.send("PUT", `/v1/me/secrets/${variable}`, { value: own })).status).toBe(201);
  await client.stream(await client.create({ prompt: { text: "go" } }));
  const sent = JSON.stringify(requests().at(-1)?.body);
  expect(sent).toContain("role_refused");
  expect(sent).toMatch(/would let every team of this platform have it.*sts:ExternalId is platform-team-\d+/);
  expect(sent).not.toContain("AccessKeyId");
});
