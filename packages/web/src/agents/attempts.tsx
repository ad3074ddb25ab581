// Further attempts at the prompt of a new agent: with the same model or with others, to compare.
import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../api/queries.ts";
import { Button, IconButton, Select } from "../components/controls.tsx";
import { maxAttempts } from "./attempt-limit.ts";

export interface AttemptsProps {
  /** The model of each further attempt. */
  attempts: string[];
  onChange(attempts: string[]): void;
}

export function Attempts({ attempts, onChange }: AttemptsProps) {
  const { data } = useQuery(modelsQuery);
  const models = data?.items ?? [];
  return (
    <fieldset className="attempts">
      <legend>Compare</legend>
      {attempts.map((model, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: attempts have no other name than their number.
        <div key={index} className="attempts-row">
          <span>Attempt {index + 2}</span>
          <Select
            aria-label={`Model of attempt ${index + 2}`}
            value={model}
            onChange={({ target }) => onChange(attempts.map((one, at) => (at === index ? target.value : one)))}
          >
            <option value="">The same model</option>
            {models.map(({ id, displayName }) => (
              <option key={id} value={id}>
                {displayName}
              </option>
            ))}
          </Select>
          <IconButton
            icon="close"
            label={`Remove attempt ${index + 2}`}
            onClick={() => onChange(attempts.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <div>
        <Button icon="plus" disabled={attempts.length + 1 >= maxAttempts} onClick={() => onChange([...attempts, ""])}>
          Add an attempt
        </Button>
        {attempts.length > 0 && (
          <span className="field-hint"> Each is an agent of its own; you open a pull request from the best one.</span>
        )}
      </div>
    </fieldset>
  );
}
