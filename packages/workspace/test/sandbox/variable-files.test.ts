// Files that variables name: credentials wherever they are, and nothing else, are hidden from commands, by bubblewrap and by Landlock.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hiddenByVariables } from "../../src/sandbox/personal-paths.ts";
import { bash } from "../support/commands.ts";
import { sandboxes, temporaryDirectory } from "../support/locations.ts";

test("credentials that variables put elsewhere are hidden; the workspace, devices and what is around them are not", () => {
  const variables = {
    CODEX_HOME: "/data/codex",
    KUBECONFIG: "/data/one:relative:/data/two/",
    XDG_CONFIG_HOME: "/data/config",
    XDG_STATE_HOME: "",
    HISTFILE: "/dev/null",
    GNUPGHOME: "/home/a",
    CLAUDE_CONFIG_DIR: "/work",
    NETRC: "/work/repository/netrc",
    GH_CONFIG_DIR: "/",
    OTHER_HOME: "/data/other",
  };
  const hidden = hiddenByVariables(variables, { home: "/home/a/b", roots: ["/work/repository"] });
  const ofConfig = hidden.filter((path) => path.startsWith("/data/config/"));
  expect(hidden.filter((path) => !ofConfig.includes(path))).toEqual(["/data/codex", "/data/one", "/data/two"]);
  expect(ofConfig).toEqual(expect.arrayContaining(["/data/config/gh", "/data/config/google-chrome"]));
});

test("files of secrets that any variable names are hidden, and other files are not", () => {
  const secrets = {
    RESTIC_PASSWORD_FILE: "/data/restic",
    AWS_WEB_IDENTITY_TOKEN_FILE: "/var/run/token",
    HF_TOKEN_PATH: "/data/hf",
    ssl_key_file: "/data/tls.key",
    KRB5CCNAME: "FILE:/tmp/krb5cc_1",
    PSQL_HISTORY: "/data/psql",
    DB_PASSWORD_FILE: "/work/repository/.secret",
  };
  const others = { KEYMAP_PATH: "/data/keys", MANPATH: "/data/man", SSL_CERT_FILE: "/data/ca.pem", TOKENS: "/data/x" };
  expect(hiddenByVariables({ ...secrets, ...others }, { home: "/home/a", roots: ["/work/repository"] }).sort()).toEqual(
    ["/data/hf", "/data/psql", "/data/restic", "/data/tls.key", "/tmp/krb5cc_1", "/var/run/token"],
  );
});

test.each(sandboxes)(
  "in %s commands read no file of secrets that a variable names, and others beside it",
  async (_, open) => {
    const base = temporaryDirectory();
    onTestFinished(() => rmSync(base, { recursive: true }));
    const [root, data] = [join(base, "repository"), join(base, "data")];
    for (const directory of [root, data]) mkdirSync(directory);
    for (const name of ["restic", "token", "keys"]) writeFileSync(join(data, name), `of ${name}\n`);
    const variables = {
      RESTIC_PASSWORD_FILE: join(data, "restic"),
      HF_TOKEN_PATH: join(data, "token"),
      KEYMAP_PATH: join(data, "keys"),
    };
    const hidden = hiddenByVariables(variables, { home: join(base, "home"), roots: [root] });
    // Not the repository: directories beside it in /tmp are not shown at all.
    const workspace = await open({ mode: "read-only", root: base, hidden });
    onTestFinished(() => workspace.close());
    const { stdout } = await bash(workspace, `cat ${Object.values(variables).join(" ")}`);
    expect(stdout).toBe("of keys\n");
  },
);
