// Roles, as people read them.
export const roleWords = { admin: "Administrator", member: "Member" } as const;
