// Settings of the visitor and of the team.
import { useQuery } from "@tanstack/react-query";
import { session } from "../api/session.ts";
import { Loaded, Page } from "../components/page.tsx";
import { Notifications } from "../push/notifications.tsx";
import { Credentials } from "./credentials.tsx";
import { PersonalSettingsForm } from "./personal.tsx";
import { teamSettingsQuery, userSettingsQuery } from "./queries.ts";
import { TeamSettingsForm } from "./team.tsx";

export const SettingsPage = () => (
  <Page title="Settings">
    <Loaded query={useQuery(userSettingsQuery)}>{(settings) => <PersonalSettingsForm settings={settings} />}</Loaded>
    <Notifications />
    <Loaded query={useQuery(teamSettingsQuery)}>{(settings) => <TeamSettingsForm settings={settings} />}</Loaded>
    {session.isAdmin && <Credentials />}
  </Page>
);
