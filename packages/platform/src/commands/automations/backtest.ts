// `platform automations backtest`
import { setTimeout as delay } from "node:timers/promises";
import { CommandError } from "@agentcli/command-line";
import { type Backtest, outcomeWords, type Proposal } from "@agentcli/protocol/api";
import { findBacktest, requestBacktest, showBacktest } from "../../automations/backtests/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { requireScheduler, withAutomation } from "./automations.ts";

const pollIntervalMs = 500;
const maxEvents = 50;

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withAutomation(invocation, program, async ({ view: { platform }, settings }, automation) => {
    const last = readLast(invocation.text("last") ?? "10");
    requireScheduler(settings);
    const { id } = await requestBacktest(platform, automation, { last, createdBy: "operator" });
    const read = async () => showBacktest(platform, automation, await findBacktest(platform.db, automation.id, id));
    let backtest = await read();
    while (backtest.status !== "done") {
      await delay(pollIntervalMs);
      backtest = await read();
    }
    program.print(invocation.has("json") ? `${JSON.stringify(backtest)}\n` : linesOf(backtest));
    return 0;
  });

function readLast(text: string): number {
  const last = Number(text);
  if (/^\d+$/.test(text) && last >= 1 && last <= maxEvents) return last;
  throw new CommandError("usage", `--last ${text}: expected a number from 1 to ${maxEvents}.`);
}

const linesOf = ({ items }: Backtest): string =>
  items.length === 0 ? "There are no stored events to replay.\n" : items.map((item) => `${lineOf(item)}\n`).join("");

type Item = Backtest["items"][number];

const words: Record<Item["outcome"], string> = { start: "would start", skip: "would be skipped", none: "not for it" };

function lineOf({ receivedAt, event, outcome, runStatus, costUsd, reason, agentId, proposals }: Item): string {
  const facts = [
    ...[receivedAt, event, words[outcome], agentId, runStatus && outcomeWords[runStatus]],
    ...[costUsd && `${costUsd} USD`, reason],
  ];
  return [facts.filter((fact) => fact !== undefined).join("  "), ...proposals.map(proposalLine)].join("\n");
}

const maxLength = 200;

function proposalLine({ tool, arguments: given }: Proposal): string {
  const text = JSON.stringify(given);
  return `    ${tool} ${text.length > maxLength ? `${text.slice(0, maxLength)}…` : text}`;
}
