// The charts, rendered by Helm and held against the schemas of Kubernetes. Helm is built from its Go module: minutes, not seconds.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot, temporaryDirectory } from "@agentcli/testkit";
import { beforeAll, expect, onTestFinished, test } from "vitest";

const helmVersion = "v3.18.6";
const validateVersion = "1.37.0";
const cache = join(projectRoot, "node_modules/.cache");
const helm = join(cache, `helm-${helmVersion}`, "helm");
const python = join(cache, `kubernetes-validate-${validateVersion}`);

beforeAll(() => {
  if (!existsSync(helm)) {
    mkdirSync(join(helm, ".."), { recursive: true });
    const env = { ...process.env, GOBIN: join(helm, ".."), GOFLAGS: "-mod=mod", CGO_ENABLED: "0" };
    execFileSync("go", ["install", `helm.sh/helm/v3/cmd/helm@${helmVersion}`], { env, cwd: join(helm, "..") });
  }
  if (existsSync(join(python, "bin/kubernetes-validate"))) return;
  rmSync(python, { recursive: true, force: true });
  execFileSync("python3", ["-m", "venv", python]);
  execFileSync(join(python, "bin/pip"), ["install", "--quiet", `kubernetes-validate==${validateVersion}`]);
}, 3_600_000);

const chart = (name: string) => join(projectRoot, "deploy/helm", name);

test.each(["platform", "agent-workers"])(
  "Helm renders the chart %s, and Kubernetes would accept what comes out",
  async (name) => {
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    expect(execFileSync(helm, ["lint", "--strict", chart(name)], { encoding: "utf8" })).toContain("0 chart(s) failed");
    const rendered = execFileSync(helm, ["template", "release", chart(name)], { encoding: "utf8" });
    const validate = (text: string) => {
      writeFileSync(join(path, "rendered.yaml"), text);
      return spawnSync(join(python, "bin/kubernetes-validate"), ["--strict", join(path, "rendered.yaml")], {
        encoding: "utf8",
      });
    };
    const { status, stdout, stderr } = validate(rendered);
    expect(status, `${stdout}${stderr}`).toBe(0);
    expect(validate(rendered.replace("selector:", "selectr:")).status).not.toBe(0);
  },
);

test("Helm refuses values that the schema of the chart does not have", () => {
  const args = ["template", "release", chart("platform"), "--set", "publicUrl=http://platform.example.com"];
  const { status, stderr } = spawnSync(helm, args, { encoding: "utf8" });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/publicUrl/)]);
});
