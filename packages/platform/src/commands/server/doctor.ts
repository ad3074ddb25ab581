// `platform doctor`
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";
import { examine } from "./examine.ts";
import type { Finding } from "./finding.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings, entries } = settingsFor(invocation, program);
  const findings = await examine(settings);
  const isFit = findings.every(({ verdict }) => verdict !== "wrong");
  const report = { settings: entries, findings };
  program.print(
    invocation.has("json")
      ? `${JSON.stringify(report, null, 2)}\n`
      : `${entries.map(({ name, value, origin }) => `${name} = ${JSON.stringify(value)}  (${origin})\n`).join("")}\n${findings.map(line).join("")}`,
  );
  return isFit ? 0 : 1;
}

const marks = { fine: "ok  ", note: "note", wrong: "FAIL" };

const line = ({ subject, verdict, text }: Finding): string => `${marks[verdict]} ${subject}: ${text}\n`;
