// Whose a secret is: the team's, one user's, or limited to one environment.

export interface SecretOwnerId {
  teamId: number;
  /** Null: not personal. */
  userId: number | null;
  /** Null: for all environments. */
  environmentId: string | null;
}

export const ofTeam = (teamId: number): SecretOwnerId => ({ teamId, userId: null, environmentId: null });
export const ofUser = (teamId: number, userId: number): SecretOwnerId => ({ teamId, userId, environmentId: null });
export const ofEnvironment = (teamId: number, environmentId: string): SecretOwnerId => ({
  teamId,
  userId: null,
  environmentId,
});
