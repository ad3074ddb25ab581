// Serves one request with git's own CGI program: every repository below `root`, pushes included.
import { spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";

export function answerWithGit(root: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "http.receivepack",
      GIT_CONFIG_VALUE_0: "true",
      REMOTE_USER: "test",
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(path),
      QUERY_STRING: query,
      CONTENT_TYPE: request.headers["content-type"],
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"],
      GIT_PROTOCOL: request.headers["git-protocol"] as string | undefined,
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  request.pipe(child.stdin);
  child.stdin.on("error", () => {});
  const chunks: Buffer[] = [];
  child.stdout.on("data", (data: Buffer) => chunks.push(data));
  child.on("close", () => sendOutput(Buffer.concat(chunks), response));
}

function sendOutput(whole: Buffer, response: ServerResponse): void {
  const end = whole.indexOf("\r\n\r\n");
  const headers = whole.subarray(0, end).toString().split("\r\n");
  response.statusCode = Number(headers.find((line) => /^status:/i.test(line))?.split(" ")[1] ?? 200);
  for (const line of headers.filter((entry) => !/^status:/i.test(entry))) {
    const colon = line.indexOf(":");
    response.setHeader(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  response.end(whole.subarray(end + 4));
}
