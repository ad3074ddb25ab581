// `npm start`: the whole platform on this machine, ready to try, without a key for a model and without a network.
// With `-- --reset-sample` the sample repository begins anew; pull requests and agents stay.
import { homedir } from "node:os";
import { join } from "node:path";
import { resetSample, startPlatform } from "./local-platform.mjs";
import { setUp } from "./setup.mjs";

await setUp();
const data = process.env.PLATFORM_DATA || join(homedir(), ".platform");
const platform = await startPlatform({ data, listen: process.env.PLATFORM_LISTEN });
const { url, model, loginUrl, logFile } = platform;
if (process.argv.includes("--reset-sample")) {
  resetSample(platform);
  console.log("The branch main of the sample repository is as at the first start.");
}
console.log(`
The platform runs at ${url}.

Model:   ${model}
Open:    ${loginUrl}
Try it:  npx agentcli cloud exec --follow "Fix the failing test"

All data is in ${data}: the log in ${logFile}, the API key in local.json. Ctrl-C stops the platform.`);

const exit = await platform.exited;
if (exit === 0) console.log("Stopped, nothing lost. npm start continues.");
else {
  console.error(`The platform ended with ${exit}; its log is ${logFile}. npm start continues with what was recorded.`);
  process.exitCode = 1;
}
