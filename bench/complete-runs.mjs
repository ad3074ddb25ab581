// Complete runs: create with a repository, one command, commit, push, draft pull request.
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { command, message } from "./model-server.mjs";
import { startPlatform } from "./platform-server.mjs";

const count = 96;
const warmUps = 24;
const maxConcurrent = 8;

/** Rows of the table: what, who, value, unit, ratio, limit. */
export async function completeRunRows({ root, scratch }) {
  const model = await startModel();
  const platform = await startPlatform({ root, scratch, modelUrl: model.url });
  const plain = platform.command("repos", "create", "plain", "--from", makeRepository(scratch));
  const what = `complete runs with a pull request, ${maxConcurrent} at once`;
  const rows = [
    ...(await measure({ platform, repository: plain, what, limit: "≥ 8 on two cores" })),
    // Its project has a hook, a Node program of its own that starts with each command.
    ...(await measure({ platform, repository: platform.repository, what: `${what}, with a hook`, limit: "" })),
  ];
  await platform.stop();
  model.close();
  return rows;
}

async function measure({ platform, repository, what, limit }) {
  await completeRuns({ platform, repository, times: warmUps });
  const before = await platform.startedPrograms();
  const startedAt = performance.now();
  await completeRuns({ platform, repository, times: count });
  const seconds = (performance.now() - startedAt) / 1000;
  const programs = ((await platform.startedPrograms()) - before) / count;
  return [
    [what, "platform serve", count / seconds, "a second", null, limit],
    [`${what}: programs that the server starts for each`, "platform serve", programs, "", null, ""],
  ];
}

async function completeRuns({ platform, repository, times }) {
  const body = { prompt: { text: "write it" }, repos: [{ url: repository }], autoCreatePR: true };
  let left = times;
  const work = async () => {
    while (left-- > 0) {
      const ids = await platform.create(body);
      const { text } = await platform.send("GET", ids.stream);
      if (!text.includes('"status":"FINISHED"') || !/"prUrl":"http/.test(text))
        throw new Error(`a run has no pull request: ${text.slice(-500)}`);
    }
  };
  await Promise.all(Array.from({ length: maxConcurrent }, work));
}

function makeRepository(scratch) {
  const directory = join(scratch, "plain");
  mkdirSync(directory);
  writeFileSync(join(directory, "README.md"), "A project.\n");
  return directory;
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
