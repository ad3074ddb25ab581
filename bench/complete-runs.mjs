// Complete runs: create with a repository, one command, commit, push, draft pull request.
import { createServer } from "node:http";
import { command, message } from "./model-server.mjs";
import { startPlatform } from "./platform-server.mjs";

const count = 48;
const maxConcurrent = 8;

/** Rows of the table: what, who, value, unit, ratio, limit. */
export async function completeRunRows({ root, scratch }) {
  const model = await startModel();
  const platform = await startPlatform({ root, scratch, modelUrl: model.url });
  const body = { prompt: { text: "write it" }, repos: [{ url: platform.repository }], autoCreatePR: true };
  const work = async () => {
    const ids = await platform.create(body);
    const { text } = await platform.send("GET", ids.stream);
    if (!text.includes('"status":"FINISHED"') || !/"prUrl":"http/.test(text))
      throw new Error(`a run has no pull request: ${text.slice(-500)}`);
  };
  for (let round = 0; round < 4; round += 1) await work();
  const before = await platform.startedPrograms();
  const startedAt = performance.now();
  let left = count;
  await Promise.all(
    Array.from({ length: maxConcurrent }, async () => {
      while (left-- > 0) await work();
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const programs = ((await platform.startedPrograms()) - before) / count;
  await platform.stop();
  model.close();
  const what = `complete runs with a pull request, ${maxConcurrent} at once`;
  return [
    [what, "platform serve", count / seconds, "a second", null, "≥ 8 on two cores"],
    [`${what}: programs that the server starts for each`, "platform serve", programs, "", null, ""],
  ];
}

/** A request with the output of a command is the second of its run. */
async function startModel() {
  let number = 0;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.writeHead(200, { "content-type": "text/event-stream" });
    number += 1;
    const write = command(`echo ${number} > written.txt`, number);
    response.end(body.includes("function_call_output") ? message("Wrote it.") : write);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
