// What administrators can do with a member.
import type { LoginLink, Member } from "@agentcli/protocol/api";
import { request } from "../api/request.ts";
import { ConfirmButton } from "../components/confirm.tsx";
import { Button } from "../components/controls.tsx";
import type { OneTimeLink } from "./link.tsx";

export interface MemberActionsProps {
  member: Member;
  hasLoginLinks: boolean;
  isBusy: boolean;
  onLink(link: OneTimeLink): void;
  onAct(act: () => Promise<void>): void;
}

export function MemberActions({ member, hasLoginLinks, isBusy, onLink, onAct }: MemberActionsProps) {
  const { id, email, role, sessions } = member;
  const path = `/v1/members/${id}`;
  const act = (work: () => Promise<unknown>) => () =>
    onAct(async () => {
      await work();
    });
  const otherRole = role === "admin" ? "member" : "admin";
  const makeLink = async () => {
    const { link } = await request<LoginLink>(`${path}/login-link`, { method: "POST" });
    onLink({ email, link, kind: "login link" });
  };
  return (
    <>
      <Button
        look="quiet"
        isBusy={isBusy}
        onClick={act(() => request(path, { method: "PATCH", body: { role: otherRole } }))}
      >
        Make {otherRole === "admin" ? "administrator" : "member"}
      </Button>
      {hasLoginLinks && (
        <Button look="quiet" isBusy={isBusy} onClick={act(makeLink)}>
          Login link
        </Button>
      )}
      {sessions > 0 && (
        <ConfirmButton
          look="quiet"
          label="End sessions"
          title={`End all sessions of ${email}?`}
          onConfirm={act(() => request(`${path}/sessions`, { method: "DELETE" }))}
        >
          <p>They have to log in again in every browser. Their keys stay valid.</p>
        </ConfirmButton>
      )}
      <ConfirmButton
        look="quiet"
        label="Remove"
        title={`Remove ${email} from the team?`}
        onConfirm={act(() => request(path, { method: "DELETE" }))}
      >
        <p>Their keys and sessions end. What they created stays.</p>
      </ConfirmButton>
    </>
  );
}
