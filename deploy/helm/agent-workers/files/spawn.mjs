#!/usr/bin/env node
// Creates the Pod of one worker, with what the controller has given in the environment. A Pod that exists already is left alone.
import { readFileSync } from "node:fs";
import { request } from "node:https";

const account = "/var/run/secrets/kubernetes.io/serviceaccount";
const read = (name) => readFileSync(`${account}/${name}`, "utf8").trim();
const given = (name) => process.env[name] ?? "";
const namespace = read("namespace");
const workerId = given("PLATFORM_AGENT_WORKER_ID").toLowerCase();
const passed = [
  ...["PLATFORM_BACKEND_URL", "PLATFORM_AUTH_TOKEN", "PLATFORM_AGENT_WORKER_ID", "PLATFORM_WORKER_NAME"],
  "PLATFORM_WORKER_POOL_NAME",
];
const template = JSON.parse(given("WORKER_POD"));
const pod = {
  ...{ apiVersion: "v1", kind: "Pod" },
  metadata: { name: workerId, labels: { app: "agent-worker" } },
  spec: {
    ...template,
    containers: template.containers.map((container) => ({
      ...container,
      env: passed.map((name) => ({ name, value: given(name) })),
    })),
  },
};
const answer = await new Promise((resolve, reject) => {
  const sent = request({
    host: given("KUBERNETES_SERVICE_HOST"),
    port: given("KUBERNETES_SERVICE_PORT"),
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/pods`,
    ca: readFileSync(`${account}/ca.crt`),
    headers: { authorization: `Bearer ${read("token")}`, "content-type": "application/json" },
  });
  sent.on("response", (response) => {
    const parts = [];
    response.on("data", (part) => parts.push(part));
    response.on("end", () => resolve({ status: response.statusCode, text: Buffer.concat(parts).toString() }));
  });
  sent.on("error", reject);
  sent.end(JSON.stringify(pod));
});
if (answer.status >= 300 && answer.status !== 409) {
  console.error(`The Pod could not be created: ${answer.status} ${JSON.parse(answer.text).message ?? ""}`);
  process.exit(1);
}
