// What a prompt calls by name: rules with @, skills with $ and /, commands with /.
import type { ContextMessage } from "@agentcli/protocol";
import { calledCommand } from "../commands/read.ts";
import type { CommandRoot } from "../commands/roots.ts";
import { describeProblem } from "../files/problem.ts";
import { mentionedRules, type Rule, ruleBody, ruleMessage } from "../instructions/rules.ts";
import { mentionedSkills, skillMessage } from "../skills/mentions.ts";
import type { Skills } from "../skills/read.ts";
import { unknownSkillStart } from "./unknown-skill.ts";

export interface PromptTexts {
  messages: ContextMessage[];
  warnings: string[];
}

interface Callable {
  rules: Rule[];
  skills: Skills;
  commands: CommandRoot[];
}

export function promptTexts(prompt: string, { rules, skills, commands }: Callable): PromptTexts {
  const called = prompt.includes("@") ? mentionedRules(prompt, rules) : [];
  const named = /\$|^\s*\//.test(prompt) ? skillTexts(prompt, skills) : noTexts;
  const { messages, warnings } = /^\s*\//.test(prompt) ? orCommand(named, prompt, commands) : named;
  const texts = called.map((rule) => ruleMessage([ruleBody(rule)]));
  return { messages: [...texts.map(userMessage), ...messages], warnings };
}

const noTexts: PromptTexts = { messages: [], warnings: [] };

function skillTexts(prompt: string, { skills }: Skills): PromptTexts {
  const mentioned = mentionedSkills(prompt, skills);
  const read = mentioned.skills.map(skillMessage);
  return {
    messages: read.flatMap((result) => ("text" in result ? [userMessage(result.text)] : [])),
    warnings: [
      ...read.flatMap((result) => ("message" in result ? [describeProblem(result)] : [])),
      ...mentioned.ambiguous.map(
        ({ name, paths }) => `$${name} could mean ${paths.join(" or ")}. Say which: [$${name}](${paths[0]}).`,
      ),
      ...mentioned.unknown.map(unknownSkill),
    ],
  };
}

/** Where no skill has the name. */
function orCommand(named: PromptTexts, prompt: string, roots: CommandRoot[]): PromptTexts {
  const called = named.messages.length === 0 ? calledCommand(prompt, roots) : null;
  if (!called) return named;
  const warnings = [...named.warnings, ...called.warnings.map(describeProblem)];
  return { messages: called.text === "" ? [] : [userMessage(called.text)], warnings };
}

const unknownSkill = (name: string): string =>
  `${unknownSkillStart}$${name}, or it is switched off. To see all skills: agentcli skills list`;

const userMessage = (text: string): ContextMessage => ({ role: "user", parts: [{ type: "text", text }] });
