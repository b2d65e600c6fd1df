/** What the holder of a key may do, from least to most. `owner` is the secret key's; members' keys have the others. */
export const roles = ['viewer', 'sender', 'owner'] as const;
export type Role = (typeof roles)[number];

export const memberRoles = ['viewer', 'sender'] as const satisfies readonly Role[];
export type MemberRole = (typeof memberRoles)[number];

/** Whose key a request has. */
export type Access =
  | { readonly role: 'owner' }
  | {
      readonly role: MemberRole;
      /** The member's. */
      readonly name: string;
    };

/** @param least the least role that may do something. */
export function includes(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}
