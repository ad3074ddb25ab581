// Settings for the fake GitHub, as an app; the key file is removed after the tests.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import type { FakeGithub } from "@agentcli/testkit/github";
import { afterAll } from "vitest";
import type { GithubSettings } from "../../src/foundation/config/index.ts";

export async function githubSettings(fake: FakeGithub): Promise<GithubSettings> {
  const home = await temporaryDirectory();
  const privateKeyFile = join(home.path, "app.pem");
  writeFileSync(privateKeyFile, fake.app.privateKey, { mode: 0o600 });
  afterAll(home.remove);
  return { baseUrl: fake.apiUrl, client: null, credentials: { kind: "app", appId: fake.app.id, privateKeyFile } };
}
