// The retention rules as a server has them, for a data directory and a point in time.
import { join } from "node:path";
import type { Kysely } from "kysely";
import { conversationRetention } from "../../src/agents/conversation-retention.ts";
import { deletedRetention, workspaceRetention } from "../../src/agents/retention.ts";
import { idempotencyRetention } from "../../src/agents/submit/index.ts";
import { automationRetention } from "../../src/automations/retention.ts";
import { poolRetention, workerRetention } from "../../src/fleet/retention.ts";
import { openObjects, type RetentionRule, type Tables } from "../../src/foundation/index.ts";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { invitationRetention } from "../../src/identity/invitations/index.ts";
import { sessionRetention } from "../../src/identity/sessions/index.ts";
import { deliveryRetention } from "../../src/integrations/webhooks/index.ts";
import { draftRetention } from "../../src/operations/retention/index.ts";
import { openSourceHosts } from "../../src/repositories/scm/index.ts";
import {
  defaultLimits,
  mirrorRetention,
  openLocks,
  openWorkspaces,
  unfinishedRetention,
} from "../../src/repositories/workspaces/index.ts";
import { artifactRetention } from "../../src/runs/artifacts/index.ts";
import { frameRetention } from "../../src/runs/streams/index.ts";
import { testSettings } from "../harness/settings.ts";

export interface RuleOptions {
  db: Kysely<Tables>;
  dataDirectory: string;
  /** Files are as old as this many hours make them. */
  hoursLater: number;
}

export function rulesOf({ db, dataDirectory, hoursLater }: RuleOptions): RetentionRule[] {
  const settings = testSettings(dataDirectory);
  const { retention } = settings;
  const now = () => Date.now() + hoursLater * 3_600_000;
  const locks = openLocks(db);
  const objects = openObjects(settings);
  const files = { db, dataDirectory, objects, locks, ...retention, now };
  const workspaces = workspacesIn(files);
  return [
    frameRetention(db, settings.streamRetentionSeconds),
    idempotencyRetention(db, retention.idempotencyHours),
    ...sessionRetention(db, retention.sessionDays),
    invitationRetention(db, retention.sessionDays),
    deliveryRetention(db, retention.deliveryDays),
    ...automationRetention(db, retention.firingDays),
    workerRetention(db, retention.workerDays),
    poolRetention(db, retention.workerDays),
    conversationRetention({ platform: { db, settings, objects, log: silentLog }, workspaces }),
    workspaceRetention({ platform: { db, settings, objects }, workspaces }),
    deletedRetention({ platform: { db, settings, objects }, workspaces }),
    mirrorRetention(files),
    unfinishedRetention(files),
    artifactRetention(files),
    draftRetention(settings, now),
  ];
}

const workspacesIn = ({ dataDirectory, locks }: { dataDirectory: string; locks: ReturnType<typeof openLocks> }) =>
  openWorkspaces({
    dataDirectory,
    locks,
    sources: openSourceHosts({
      policy: openNetworkPolicy({ allowPrivate: [] }),
      sshDirectory: join(dataDirectory, "ssh"),
      own: { nameOf: async () => undefined, open: async () => undefined },
      rules: { refusal: async () => undefined },
      github: null,
    }),
    limits: defaultLimits,
    identity: { name: "platform", email: "agent@platform.invalid" },
    findPushed: async () => null,
  });

export async function applyAll(options: RuleOptions): Promise<void> {
  for (const rule of rulesOf(options)) for await (const _count of rule.remove());
}
