// What `npm run demo` shows, against a platform that runs elsewhere: the agent fixes the sample and opens a draft pull request.
// node demo-client.mjs URL KEY SAMPLE
const [url, key, sample] = process.argv.slice(2);

async function send(method, path, body) {
  const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) };
  const response = await fetch(new URL(path, url), { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} failed with ${response.status}: ${text}`);
  return text.startsWith("{") ? JSON.parse(text) : text;
}

const prompt = { text: "Fix the failing test" };
const { agent, run } = await send("POST", "/v1/agents", { prompt, repos: [{ url: sample }], autoCreatePR: true });
const path = `/v1/agents/${agent.id}/runs/${run.id}`;
// Ends with the run.
const events = await send("GET", `${path}/stream`);
const ended = await send("GET", path);
const prUrl = ended.git?.branches?.[0]?.prUrl;
if (ended.status !== "FINISHED" || !prUrl)
  throw new Error(`${ended.status}: ${JSON.stringify(ended.error)}\n${events}`);
console.log(await send("GET", `${new URL(prUrl).pathname}/diff`));
console.log(`${ended.status} with a pull request`);
