// Asks administrators for the spend limit of a team that works without one, until one of them has answered.
import { useQuery } from "@tanstack/react-query";
import { Notice } from "../components/feedback.tsx";
import { teamSettingsQuery } from "../settings/queries.ts";
import { aboutSpendLimit, SpendLimitQuestion } from "../settings/spend-limit.tsx";

export default function SpendBanner() {
  const { data } = useQuery(teamSettingsQuery);
  if (data === undefined || data.spendLimit !== null) return null;
  return (
    <Notice>
      <section className="spend-banner" aria-labelledby="spend-title">
        <h2 id="spend-title">How much may the team spend in a month?</h2>
        <p>{aboutSpendLimit}</p>
        <SpendLimitQuestion />
      </section>
    </Notice>
  );
}
