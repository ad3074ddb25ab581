// The first steps on an empty platform: a model that answers, a repository, the first agent. Each is checked, not assumed.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { modelsQuery, repositoriesQuery } from "../api/queries.ts";
import { request } from "../api/request.ts";
import { session } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { Button } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { useStored } from "../components/stored.ts";
import { teamSettingsQuery } from "../settings/queries.ts";
import { aboutSpendLimit, chosenLimit, SpendLimitQuestion } from "../settings/spend-limit.tsx";
import { repositoryName } from "../text/format.ts";

export default function Welcome() {
  return (
    <section className="welcome" aria-labelledby="welcome-title">
      <h2 id="welcome-title">{session.isAdmin ? "Four" : "Three"} steps to the first result</h2>
      <ol className="steps">
        <ModelStep />
        {session.isAdmin && <SpendStep />}
        <RepositoryStep />
        <Step
          isDone={false}
          title="Start the first agent"
          text="It works on a task in the repository and hands the result over as a branch or a pull request."
        >
          <Link className="button button-primary" to="/agents/new">
            <Icon name="plus" /> Start the first one
          </Link>
        </Step>
      </ol>
    </section>
  );
}

function ModelStep() {
  const { data } = useQuery(modelsQuery);
  const [answered, setAnswered] = useStored<string>("model-answered", "");
  const check = useAction(async () => {
    const { model } = await request<{ model: string }>("/v1/inference/responses", {
      method: "POST",
      body: { input: "Reply with the word ready." },
    });
    setAnswered(model);
  });
  const count = data?.items.length ?? 0;
  const about = session.notice ?? `${count} ${count === 1 ? "model is" : "models are"} configured.`;
  return (
    <Step
      isDone={answered !== ""}
      title="Check the model"
      text={answered === "" ? `${about} One short request shows whether it answers.` : `${answered} answers. ${about}`}
    >
      <Button isBusy={check.isPending} onClick={() => check.run(undefined)}>
        {answered === "" ? "Check now" : "Check again"}
      </Button>
      {check.error !== null && <Failure error={check.error} />}
    </Step>
  );
}

function SpendStep() {
  const { data } = useQuery(teamSettingsQuery);
  const chosen = data === undefined ? null : chosenLimit(data);
  return (
    <Step isDone={chosen !== null} title="Choose a spend limit" text={chosen ?? aboutSpendLimit}>
      {chosen === null ? (
        <SpendLimitQuestion />
      ) : (
        <Link className="button button-plain" to="/settings">
          Change it
        </Link>
      )}
    </Step>
  );
}

const soonMs = 5_000;

function RepositoryStep() {
  const { data } = useQuery({ ...repositoriesQuery, staleTime: soonMs, refetchInterval: soonMs });
  const names = (data?.items ?? []).map(({ url }) => repositoryName(url));
  const [first] = names;
  const more = names.length > 1 ? ` and ${names.length - 1} more` : "";
  return (
    <Step
      isDone={first !== undefined}
      title="Add a repository"
      text={
        first === undefined
          ? "Import one, or connect the host where yours are. Agents also take any git URL."
          : `Agents can work on ${first}${more}.`
      }
    >
      <a className="button button-plain" href="/repositories">
        {first === undefined ? "Add a repository" : "Repositories"}
      </a>
      <a className="button button-quiet" href="/accounts">
        Connect a host
      </a>
    </Step>
  );
}

interface StepProps {
  isDone: boolean;
  title: string;
  text: string;
  children: ReactNode;
}

const Step = ({ isDone, title, text, children }: StepProps) => (
  <li className="step-card" data-done={isDone}>
    <span className={isDone ? "step-mark is-done" : "step-mark"}>
      {isDone && <Icon name="check" size={14} />}
      <span className="sr-only">{isDone ? "Done" : "Open"}</span>
    </span>
    <div className="step-text">
      <h3>{title}</h3>
      <p className="soft">{text}</p>
    </div>
    <div className="step-actions">{children}</div>
  </li>
);
