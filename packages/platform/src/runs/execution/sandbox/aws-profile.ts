// The profile that the tools of AWS read in a machine: a program that asks the socket of the agent for credentials.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type RunSocket, socketPath } from "../agent-socket.ts";

const configName = "aws-config";
const programName = "aws-credentials.cjs";
const profile = "platform-cloud-agent";
const inside = (name: string): string => join(dirname(socketPath), name);

/** Variables of commands. `nodePath`: where they find Node.js. */
export function awsProfile(socket: RunSocket | null, nodePath: string): Record<string, string> {
  if (!socket?.hasAwsCredentials) return {};
  // Beside the socket, as certificates are: commands see them there, read-only. Neither has anything secret.
  writeFileSync(join(socket.directory, programName), program, { mode: 0o644 });
  const command = [nodePath, inside(programName), socketPath].map((part) => `"${part}"`).join(" ");
  const config = `[profile ${profile}]\ncredential_process = ${command}\n`;
  writeFileSync(join(socket.directory, configName), config, { mode: 0o644 });
  return { AWS_CONFIG_FILE: inside(configName), AWS_PROFILE: profile, AWS_SDK_LOAD_CONFIG: "1" };
}

/** Errors are for the tool that asked, which shows them. */
const program = `
const { get } = require("node:http");
const refuse = (message) => {
  process.stderr.write(message + "\\n");
  process.exitCode = 1;
};
const socketPath = process.argv[2];
const request = get({ socketPath, path: "/v1/credentials/aws" }, (response) => {
  let text = "";
  response.setEncoding("utf8");
  response.on("data", (data) => (text += data));
  response.on("end", () => {
    if (response.statusCode === 200) process.stdout.write(text);
    else refuse(messageIn(text));
  });
});
request.on("error", ({ message }) => refuse("The platform gives no credentials now: " + message + ". They are there while a run is active."));
const messageIn = (text) => {
  try {
    const { message, error } = JSON.parse(text);
    return message ?? "The platform gives no credentials now: " + error + ".";
  } catch {
    return text;
  }
};
`.trimStart();
