// A program that uses a local agent: sends a prompt, says what it got, and ends by itself.
import { Agent } from "../dist/index.js";

const { agentId, cwd, text, options = {} } = JSON.parse(process.argv[2]);
const before = facts();
const local = { cwd };
const agent = agentId
  ? await Agent.resume(agentId, { local })
  : await Agent.create({ model: { id: "scripted" }, local, ...options });
try {
  const run = await agent.send(text);
  print({ agentId: agent.agentId, runId: run.id });
  const { status, result, error } = await run.wait();
  print({ status, result, error });
} catch (error) {
  print({ error });
}
print({ isAsBefore: JSON.stringify(before) === JSON.stringify(facts()) });

function facts() {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP", "exit", "uncaughtException", "unhandledRejection"];
  return [process.cwd(), { ...process.env }, signals.map((name) => process.listenerCount(name))];
}

function print(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
